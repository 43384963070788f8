"""Requests of well-known engines, from their documentation; what stands in capitals is to be replaced."""

from __future__ import annotations

from dataclasses import dataclass

LUCENE = ("hits.hits[*]._id", "hits.hits[*]._score")


@dataclass(frozen=True)
class Preset:
    """A request to begin with. key_header: in which header, and after which word, the engine takes a key."""

    name: str
    title: str
    address: str
    body: str
    id_path: str
    score_path: str
    key_header: str


PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "elasticsearch",
            "Elasticsearch",
            "https://HOST:9200/INDEX/_search",
            """{
  "size": {{k}},
  "_source": false,
  "query": {"multi_match": {"query": "{{query}}", "fields": ["title", "text"]}}
}""",
            *LUCENE,
            "Authorization: ApiKey",
        ),
        Preset(
            "opensearch",
            "OpenSearch, words",
            "https://HOST:9200/INDEX/_search",
            """{
  "size": {{k}},
  "_source": false,
  "query": {"multi_match": {"query": "{{query}}", "fields": ["title", "text"]}}
}""",
            *LUCENE,
            "Authorization: Basic",
        ),
        Preset(
            "opensearch-knn",
            "OpenSearch, k-NN by its own model",
            "https://HOST:9200/INDEX/_search",
            """{
  "size": {{k}},
  "_source": false,
  "query": {"neural": {"VECTOR_FIELD": {"query_text": "{{query}}", "model_id": "MODEL_ID", "k": {{k}}}}}
}""",
            *LUCENE,
            "Authorization: Basic",
        ),
        Preset(
            "opensearch-vector",
            "OpenSearch, k-NN by the query's vector",
            "https://HOST:9200/INDEX/_search",
            """{
  "size": {{k}},
  "_source": false,
  "query": {"knn": {"VECTOR_FIELD": {"vector": {{vector}}, "k": {{k}}}}}
}""",
            *LUCENE,
            "Authorization: Basic",
        ),
        Preset(
            "vespa",
            "Vespa",
            "https://HOST:8080/search/",
            """{
  "yql": "select * from sources * where userQuery()",
  "query": "{{query}}",
  "hits": {{k}}
}""",
            # Without hits there are no children.
            "root.children?[*].id",
            "root.children?[*].relevance",
            "Authorization: Bearer",
        ),
        Preset(
            "qdrant",
            "Qdrant, by its own model",
            "https://HOST:6333/collections/COLLECTION/points/query",
            """{
  "query": {"text": "{{query}}", "model": "MODEL"},
  "limit": {{k}}
}""",
            "result.points[*].id",
            "result.points[*].score",
            "api-key",
        ),
        Preset(
            "qdrant-vector",
            "Qdrant, by the query's vector",
            "https://HOST:6333/collections/COLLECTION/points/query",
            """{
  "query": {{vector}},
  "limit": {{k}}
}""",
            "result.points[*].id",
            "result.points[*].score",
            "api-key",
        ),
        Preset(
            "weaviate",
            "Weaviate, BM25",
            "https://HOST/v1/graphql",
            """{
  "query": "{ Get { CLASS(bm25: {query: {{query|json}}}, limit: {{k}}) { _additional { id score } } } }"
}""",
            "data.Get.CLASS[*]._additional.id",
            "data.Get.CLASS[*]._additional.score",
            "Authorization: Bearer",
        ),
    )
}
