"""Request types that the tests of the intake push."""

VISIT = """
id = "visit"
version = 1
title = "Visit the garden"

[[fields]]
name = "visitor_email"
label = "Email"
kind = "email"
required = true

[[fields]]
name = "days"
label = "Days"
kind = "multi_select"
options = [{ value = "mon", label = "Monday" }, { value = "tue", label = "Tuesday" }]

[[fields]]
name = "purpose"
label = "Reason"
kind = "select"
options = [{ value = "tour", label = "A tour" }, { value = "other", label = "Other" }]

[[fields]]
name = "story"
label = "Tell us"
kind = "long_text"
max_length = 500
required = true
show_when = { field = "purpose", op = "eq", value = "other" }

[verification]
field = "visitor_email"
expires_hours = 2

[confirmation]
heading = "Thank you"
body = "We answer to {visitor_email}."
"""

#: Not served: nobody's address is proved.
UNPROVED = VISIT.replace('"visit"', '"unproved"').partition("[verification]")[0]

TALK = """
id = "talk"
version = 1
title = "Give a talk"

[[fields]]
name = "email"
label = "Email"
kind = "email"
required = true

[[fields]]
name = "slides"
label = "Slides"
kind = "file"
accept = ["pdf"]
max_bytes = 100000
required = true

[[fields]]
name = "picture"
label = "Picture"
kind = "file"
max_bytes = 100000

[verification]
field = "email"
"""

EVERYTHING = """
id = "everything"
version = 1
title = "Everything <there> is & more"
description = "Each kind of field once."

[[fields]]
name = "name"
label = "Your name"
help = "As people call you."
kind = "text"
max_length = 80
required = true

[[fields]]
name = "mail"
label = "Email"
kind = "email"
required = true

[[fields]]
name = "page"
label = "Your page"
kind = "url"

[[fields]]
name = "day"
label = "Day"
kind = "date"
min = "2026-01-01"

[[fields]]
name = "guests"
label = "Guests"
kind = "integer"
min = 1
max = 9

[[fields]]
name = "purpose"
label = "Reason"
kind = "select"
required = true
options = [{ value = "tour", label = "A tour" }, { value = "other", label = "Other" }]

[[fields]]
name = "tale"
label = "Tell us"
kind = "long_text"
max_length = 500
required = true
show_when = { field = "purpose", op = "eq", value = "other" }

[[fields]]
name = "meals"
label = "Meals"
kind = "multi_select"
max_choices = 2
options = [
  { value = "lunch", label = "Lunch" },
  { value = "tea", label = "Tea" },
  { value = "cake", label = "Cake" },
]

[[fields]]
name = "stays"
label = "Do you stay overnight?"
kind = "bool"

[[fields]]
name = "poster"
label = "Poster"
kind = "file"
accept = ["pdf", "png"]

[[steps]]
id = "who"
title = "Who you are"
fields = ["name", "mail", "page"]

[[steps]]
id = "what"
title = "What you want"
fields = ["day", "guests", "purpose", "tale", "meals", "stays", "poster"]

[[acknowledgments]]
id = "rules"
label = "I keep to the rules of the garden."

[verification]
field = "mail"

[confirmation]
heading = "Thank you, {name}"
body = "We answer to {mail}."
expect_reply_within = "two weeks"
"""
