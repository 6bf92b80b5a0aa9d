"""One call of the Messages API on a thread of its own, so that a person can leave it at any moment.

The thread loads the SDK, retries as the SDK does, and puts what comes in into a queue. When it was left it sends
nothing any more and closes the stream at the next event.
"""

import queue
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.reflect.claude.events import Accepted, Counted, Delta, Ended, Event, Reach
from workbench.reflect.claude.trouble import Trouble, scrubbed

if TYPE_CHECKING:
    import anthropic
    import httpx2


class Call(threading.Thread):
    """A running call; `events` ends with an `Ended`. `request` holds the arguments of `messages.create`."""

    def __init__(self, reach: Reach, request: Mapping[str, object], *, stream: bool) -> None:
        super().__init__(name="claude", daemon=True)
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._reach = reach
        self._request = request
        self._stream = stream
        self._left = threading.Event()

    def leave(self) -> None:
        """Want nothing more of this call."""
        self._left.set()

    def run(self) -> None:
        """Make the call."""
        ended = Ended(trouble=Trouble("broken"))
        try:
            ended = self._talk()
        finally:  # whatever happens, nobody waits forever
            self.events.put(ended)

    def _talk(self) -> Ended:
        import anthropic
        import httpx2

        secrets: tuple[str, ...] = ()
        try:
            with self._client() as client:
                secrets = tuple(s for s in (client.api_key, client.auth_token) if s)
                if not secrets and client.credentials is None:
                    return Ended(trouble=Trouble("no key"))
                return self._streamed(client) if self._stream else self._whole(client)
        except anthropic.APIStatusError as error:
            return Ended(trouble=_status_trouble(error, secrets))
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            return Ended(trouble=Trouble("timeout"))
        except (anthropic.APIConnectionError, httpx2.InvalidURL, OSError):
            return Ended(trouble=Trouble("connection"))
        except anthropic.APIError:
            return Ended(trouble=Trouble("malformed"))
        except anthropic.AnthropicError:
            return Ended(trouble=Trouble("credentials"))
        except (httpx2.HTTPError, httpx2.StreamError):
            return Ended(trouble=Trouble("dropped"))
        except (ValueError, TypeError, AttributeError, LookupError):  # the SDK met something that is no event
            return Ended(trouble=Trouble("malformed"))

    def _client(self) -> "anthropic.Anthropic":
        import anthropic

        timeout = anthropic.Timeout(self._reach.timeout, connect=self._reach.connect_timeout)
        return anthropic.Anthropic(
            api_key=self._reach.api_key,
            base_url=self._reach.base_url,
            max_retries=self._reach.retries,
            timeout=timeout,
            # Without this, a retry that was waiting would still be sent after everybody has left.
            http_client=anthropic.DefaultHttpxClient(
                event_hooks={"request": [self._stop_if_left], "response": [self._note_if_accepted]}
            ),
        )

    def _note_if_accepted(self, response: "httpx2.Response") -> None:
        if response.is_success:
            self.events.put(Accepted())

    def _stop_if_left(self, _request: object) -> None:
        if self._left.is_set():
            import httpx2

            raise httpx2.HTTPError("left")

    def _streamed(self, client: "anthropic.Anthropic") -> Ended:
        reason, began = "", False
        stream = client.messages.create(**self._request, stream=True)  # type: ignore[call-overload]
        with stream:
            for event in stream:
                if self._left.is_set():
                    return Ended()
                kind = getattr(event, "type", None)
                if kind == "content_block_delta" and getattr(event.delta, "type", None) == "text_delta":
                    self.events.put(Delta(str(event.delta.text)))
                elif kind == "message_start":
                    began = True
                    self.events.put(_counted(event.message.usage))
                elif kind == "message_delta":
                    self.events.put(_counted(event.usage))
                    reason = event.delta.stop_reason or ""
                elif kind == "message_stop":
                    return Ended(reason)
        return Ended(trouble=Trouble("dropped" if began else "malformed"))

    def _whole(self, client: "anthropic.Anthropic") -> Ended:
        message = client.messages.create(**self._request)  # type: ignore[call-overload]
        if not isinstance(getattr(message, "content", None), list):
            return Ended(trouble=Trouble("malformed"))
        self.events.put(_counted(message.usage))
        self.events.put(Delta("".join(str(b.text) for b in message.content if getattr(b, "type", None) == "text")))
        return Ended(message.stop_reason or "")


def _counted(usage: object) -> Counted:
    """Return the tokens of the API's usage; what it took from or put into its cache was sent too."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    sent = [value for name in names if isinstance(value := getattr(usage, name, None), int)]
    came = getattr(usage, "output_tokens", None)
    return Counted(sum(sent) if sent else None, came if isinstance(came, int) else None)


def _status_trouble(error: "anthropic.APIStatusError", secrets: tuple[str, ...]) -> Trouble:
    """Read an error of the API; its own words are kept without anything secret."""
    body = error.body.get("error") if isinstance(error.body, dict) else None
    said = body.get("message") if isinstance(body, dict) else None
    kind = body.get("type") if isinstance(body, dict) else None
    text = scrubbed(said, secrets) if isinstance(said, str) else ""
    return Trouble("status", error.status_code, kind if isinstance(kind, str) else "", text)
