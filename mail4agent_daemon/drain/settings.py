"""``[box]``: where the box is that submissions wait in, and the two keys that home has to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from mail4agent_daemon.model_endpoint import ModelUrlError, checked_url


def _url(text: str) -> str:
    try:
        return checked_url(text, allow_plain_http=False)
    except ModelUrlError as failure:
        raise ValueError(str(failure).replace(", or set allow_plain_http", "")) from None


class BoxSettings(BaseModel):
    """The public front door, where there is one."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: Annotated[
        str | None,
        Field(
            max_length=2_048,
            description="the public front door that is drained; https://, or http:// of this machine",
        ),
        AfterValidator(lambda text: None if text is None else _url(text)),
    ] = None
    key: Annotated[
        SecretStr | None, Field(description="its drain key; by the environment alone, see key_file")
    ] = None
    key_file: Annotated[
        Path | None,
        Field(description="the file that holds its drain key; from the data folder, when relative"),
    ] = None
    types_key: Annotated[
        SecretStr | None, Field(description="its types key; by the environment alone, see types_key_file")
    ] = None
    types_key_file: Annotated[
        Path | None,
        Field(description="the file that holds its types key; from the data folder, when relative"),
    ] = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name in self._both():
            raise ValueError(f"{name} and {name}_file must not both be given")
        return self

    def _both(self) -> Iterator[str]:
        if self.key is not None and self.key_file is not None:
            yield "key"
        if self.types_key is not None and self.types_key_file is not None:
            yield "types_key"
