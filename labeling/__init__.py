"""Stage 2: from pools to qrels, through the hands of people and, where it pays, of models.

The rooms, lowest first: a room imports only rooms that stand before it. Pure ones know nothing of Django.

- consensus (pure): one label from several verdicts, and how far people agree
- items: the items of a queue: numbers, order, slots, passages
- reading: how texts are shown to people who judge them, and how they like to read
- adaptive: queues whose order follows the labels
- gold: questions with known answers, repeats, practice, and who is paused
- plausibility: work that nobody can have done with care, and what an admin decides about it
- facts: facts that answers need, and what documents say of them as labels
- exports: labels in the formats of other tools, with the texts that belong to them
- qrels: labels as they stand, imported and released
- exposure: which pre-labels people see, and what that does to them
- judging: claim, verdict, skip and undo
- fact_keeping: pages of facts: written, edited, confirmed, merged, files in and out
- supports: queues of facts: documents judged fact by fact
- adjudication: what judgments leave open, settled one by one or by a rule, and labels corrected
- practice: questions before the first item, explained after each verdict
- gold_keeping: gold questions proposed, made, edited and checked
- queues: opening and changing queues
- judgment_imports: judgments given elsewhere, imported and taken back
- search: documents that no run found
- messages: what annotators tell the admins about a pair, and what they are answered
- progress: how far a queue has come
- own_pages: an annotator's own work over all queues: hours, agreement, breaks, messages
- quality: how good the judgments of a queue are
- language_models: asking a model: prompt, connection, answer
- prelabels: passes of a model over a queue
- fact_drafts: facts that a model proposes
- verification: what a model is worth, from blind labels
- clicks (pure): what clicks say of documents
- score_audits: audits drawn by the scores of a model
"""
