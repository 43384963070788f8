"""Sign-in for programs: a name and its password for the token that every call carries."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.authtoken.models import Token
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.serializers import ProblemSerializer


class CredentialsSerializer(serializers.Serializer[Any]):
    """A name and its password."""

    username = serializers.CharField()
    password = serializers.CharField(trim_whitespace=False)


class TokenSerializer(serializers.Serializer[Any]):
    """What goes into the header `Authorization: Token …`."""

    token = serializers.CharField()


class TooManyTries(APIException):
    """django-axes has closed sign-in for this name from this address."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    default_detail = "The password was wrong too often. Sign-in is closed for a quarter of an hour."


class ApiToken(APIView):
    """The door of the HTTP interface, so whatever is sent along as a sign-in is not looked at."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="token_create",
        auth=[],
        request=CredentialsSerializer,
        responses={200: TokenSerializer, 400: ProblemSerializer, 429: ProblemSerializer},
    )
    def post(self, request: Request) -> Response:
        """Get the token of an account."""
        credentials = CredentialsSerializer(data=request.data)
        credentials.is_valid(raise_exception=True)
        user = authenticate(request, **credentials.validated_data)
        if getattr(request, "axes_locked_out", False):
            raise TooManyTries
        if user is None:
            raise ValidationError("This name and this password do not belong together.")
        token, _ = Token.objects.get_or_create(user=user)
        return Response({"token": token.key})
