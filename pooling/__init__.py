"""Stage 1: from run files to pools.

The rooms, lowest first: a room imports only rooms that stand before it. Pure ones know nothing of Django.

- formats (pure): the files of people and tools, read strictly and written back
- inputs (pure): runs, labels and pools as programs have them, made into frames
- ranking (pure): the one order of a run, documents from chunks, and which documents an audit draws
- chunks (pure): where chunks stand in their documents, and labels carried from one chunking to another
- logs (pure): search logs read as counted queries, and queries drawn from them with known probabilities
- interleaving (pure): lists mixed from several rankers, and what clicks say of rankers and documents
- strategies (pure): in which order pairs are worth judging
- merging (pure): tops of runs merged into a pool, and what that tells before anything is judged
- interface: what pages, HTTP calls and commands share
- tables: lists of rows, sorted, searched, narrowed down, chosen from and downloaded
- people: collections, members, invitations, and who may see what
- jobs: long work, done by the background worker
- storage: uploads, stored files, and rows by the thousand
- tidying: things renamed, archived, deleted and restored
- texts: queries and documents, imported, searched, and grouped where they are nearly alike
- runs: imported runs
- pools: stored pools and their versions
- engines: live search engines, asked for runs
"""
