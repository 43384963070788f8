from __future__ import annotations

import logging
from typing import Any, cast

from django.contrib.auth.models import User
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import is_annotator, queue_for
from labeling.judging import serializers
from labeling.judging.leases import PAUSED_FOR_YOU, claim, release, renew, state_of
from labeling.judging.offers import offers_of
from labeling.judging.own_work import nearly_same, own_verdicts_of_query
from labeling.judging.submissions import LONGEST_KEY
from labeling.judging.verdicts import Outcome, record_judgment, skip, undo
from labeling.judging.views import version_of_guidelines
from labeling.models import Queue
from pooling.interface import serializers as interface_serializers
from pooling.interface.api import answers, parsed, person, takes, validated
from pooling.interface.problems import InputError, bounded_text
from pooling.people.access import JUDGES

logger = logging.getLogger(__name__)
NO_VERDICT = "Not a verdict: send an object with “item”, “key” and “verdict”."


class Claims(APIView):
    @takes(serializers.ClaimRequestSerializer, gives=serializers.ClaimSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Hold up to `count` items: those you still hold and new ones. A claim is repeatable."""
        queue = queue_for(request.user, queue_id, JUDGES, deleted_too=True)
        body = parsed(serializers.ClaimRequestSerializer, request)
        return Response(_claimed(queue, person(request), body["count"]))


def _claimed(queue: Queue, annotator: User, count: int) -> serializers.Claimed:
    claimed = claim(queue, annotator, count)
    empty = vars(claimed.empty) if claimed.empty else None
    return {"items": offers_of(queue, annotator, claimed.leases), "empty": empty}


class Judgments(APIView):
    @takes(
        serializers.SubmissionSerializer(many=True),
        gives=serializers.OutcomesSerializer,
        parameters=[serializers.AlsoClaimSerializer],
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Store up to 500 verdicts, each by itself: one that is refused leaves the others alone."""
        queue = queue_for(request.user, queue_id, JUDGES, deleted_too=True)
        also = validated(serializers.AlsoClaimSerializer, request.query_params)
        bodies = request.data
        if not isinstance(bodies, list):
            raise InputError("Send a list of verdicts.")
        if len(bodies) > serializers.MOST_SUBMISSIONS:
            raise InputError(f"Send at most {serializers.MOST_SUBMISSIONS} verdicts at a time.")
        outcomes = [_recorded(queue, request, body) for body in bodies]
        state = state_of(queue)
        if state == Queue.State.OPEN and any(outcome.is_set_aside for outcome in outcomes):
            state = PAUSED_FOR_YOU
        answer = {
            "results": [_stored(queue, outcome) for outcome in outcomes],
            "state": state,
            "guidelines": version_of_guidelines(queue.collection),
        }
        if "claim" not in also:
            return Response(answer)
        return Response({**answer, **_claimed_if_possible(queue, person(request), also["claim"])})


def _stored(queue: Queue, outcome: Outcome) -> serializers.StoredVerdict:
    """An outcome as it goes out: of pre-labels not even the word, unless one is revealed.

    An annotator is not told that a verdict was beyond the need: a hidden check has none.
    """
    reply = outcome.without_extra() if is_annotator(queue) else outcome
    stored: serializers.StoredVerdict = {"key": reply.key, "status": reply.status, "detail": reply.detail}
    if reply.prelabel is not None:
        stored["prelabel"] = reply.prelabel
    return stored


def _claimed_if_possible(queue: Queue, annotator: User, count: int) -> serializers.Claimed:
    try:
        return _claimed(queue, annotator, count)
    except Exception:
        # What became of the verdicts must reach anyone who sent them, whatever is wrong with the rest.
        logger.exception("verdicts were saved, but the claim sent with them failed")
        return {"items": None, "empty": None}


def _recorded(queue: Queue, request: Request, body: Any) -> Outcome:
    if not isinstance(body, dict):
        return Outcome(None, "rejected", NO_VERDICT)
    try:
        # Fields that nobody knows are left out: a page of another version must not lose verdicts.
        values = validated(serializers.SubmissionSerializer, body)
    except ValidationError as error:
        name, problems = next(iter(cast("dict[str, Any]", error.detail).items()))
    else:
        return record_judgment(queue, person(request), serializers.submission_of(values))
    key = body.get("key")
    usable_key = key if isinstance(key, str) and bounded_text(key, LONGEST_KEY) == key else None
    return Outcome(usable_key, "rejected", bounded_text(f"{name}: {problems[0]}"))


class Skips(APIView):
    @takes(serializers.SkipSerializer, gives=interface_serializers.DetailSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Give an item's slot back; it comes again only when nothing else is left for you."""
        queue = queue_for(request.user, queue_id, JUDGES, deleted_too=True)
        body = parsed(serializers.SkipSerializer, request)
        skip(queue, person(request), body["item"], lease=body["lease"])
        return Response({"detail": "Skipped."})


class Undos(APIView):
    @takes(serializers.UndoSerializer, gives=serializers.UndoneSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Take back one of your last 20 verdicts and hold its item again."""
        queue = queue_for(request.user, queue_id, JUDGES, deleted_too=True)
        lease = undo(queue, person(request), parsed(serializers.UndoSerializer, request)["key"])
        detail = "Undone." if lease else "Undone, but the pair is not available to you at the moment."
        offers = offers_of(queue, person(request), [lease] if lease else [])
        return Response({"item": offers[0] if offers else None, "detail": detail})


class Renewals(APIView):
    @takes(serializers.LeasesSerializer, gives=serializers.RenewedSerializer)
    def post(self, request: Request, queue_id: int) -> object:
        """Extend leases; the answer names those that you still hold."""
        queue = queue_for(request.user, queue_id, JUDGES, deleted_too=True)
        leases = renew(queue, person(request), parsed(serializers.LeasesSerializer, request)["leases"])
        return {"leases": leases}


class Returns(APIView):
    @takes(serializers.LeasesSerializer, gives=serializers.ReleasedSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Return leases, so that others can judge their items."""
        queue = queue_for(request.user, queue_id, JUDGES, deleted_too=True)
        tokens = parsed(serializers.LeasesSerializer, request)["leases"]
        return Response({"released": release(queue, person(request), tokens)})


class OwnVerdicts(APIView):
    @answers(serializers.OwnVerdictsSerializer, parameters=[serializers.OfQuerySerializer])
    def get(self, request: Request, queue_id: int) -> Response:
        """Your verdicts that were not undone, and nobody else's."""
        queue = queue_for(request.user, queue_id, JUDGES, deleted_too=True)
        parameters = parsed(serializers.OfQuerySerializer, request)
        query, documents = parameters["query"], parameters["document"]
        verdicts = own_verdicts_of_query(queue, person(request), query)
        alike = nearly_same(queue, person(request), query, documents) if documents else []
        return Response({"verdicts": verdicts, "alike": alike})
