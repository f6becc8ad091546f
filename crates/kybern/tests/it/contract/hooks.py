"""What Schemathesis does not know: how a mail is written into a body."""

import schemathesis


@schemathesis.serializer("message/rfc822")
def mail(_context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
