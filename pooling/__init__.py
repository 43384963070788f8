"""Stage 1: from run files to pools.

The rooms, lowest first: a room imports only rooms that stand before it. Pure ones know nothing of Django.

- options (pure): what an option is: title, help, bounds and default, written down once
- formats (pure): the files of people and tools, read strictly and written back
- inputs (pure): runs, labels and pools as programs have them, made into frames
- ranking (pure): the one order of a run, documents from chunks, and which documents an audit draws
- chunks (pure): where chunks stand in their documents, and labels carried from one chunking to another
- interleaving (pure): lists mixed from several rankers, and what clicks on them say
- logs (pure): search logs read as counted queries, and queries drawn from them with known probabilities
- strategies (pure): in which order pairs are worth judging
- merging (pure): tops of runs merged into a pool, and what that tells before anything is judged
- interface: what pages, HTTP calls and commands share
- tables: lists of rows, sorted, searched, narrowed down, chosen from and downloaded
- people: collections, members, invitations, and who may see what
- jobs: long work, done by the background worker
- storage: uploads, stored files, and rows by the thousand
- tidying: things renamed, archived, deleted and restored
- texts: queries and documents, imported and searched
- duplicates (pure): near-identical texts, put into groups
- runs: imported runs
- pools: stored pools and their versions
- engines: live search engines, asked for runs
"""
