"""Stage 2: from pools to qrels, through the hands of people and, where it pays, of models.

The rooms, lowest first: a room imports only rooms that stand before it. Pure ones know nothing of Django.

- consensus (pure): one label from several verdicts, and how far people agree
- items: the items of a queue: numbers, order, slots, passages
- adaptive: queues whose order follows the labels
- gold: questions with known answers, repeats, practice, signs of careless work, and who is paused
- facts: facts that answers need, and what documents say of them as labels
- qrels: labels as they stand, imported, released and written for other tools
- exposure: which pre-labels people see, and what that does to them
- judging: claim, verdict, skip and undo, and how texts are shown to those who judge
- adjudication: what judgments leave open, settled one by one or by a rule, and labels corrected
- gold_pages: gold questions proposed, made, edited and checked, and practice before the first pair
- queues: opening and changing queues, and documents added that no run found
- judgment_imports: judgments given elsewhere, imported and taken back
- progress: how far a queue has come, an annotator's own work, and messages about pairs
- prelabels: passes of a model over a queue: prompt, connection, answer
- quality: how good the judgments of a queue are, and what a model's labels are worth
- fact_pages: facts written, drafted, confirmed and merged, and documents judged fact by fact
"""
