"""The console: pages on which a person reads and decides, at ``/console``.

It is a door like the others: a page asks operations through dispatch as the account that is signed in, and
knows nothing that an operation does not tell.

A screen is added so:

* A module here (``outbox.py`` is one) with a handler for each route, ``async def drafts(visit) -> Reply``.
  ``await visit.ask("outbox.list", {"limit": 50})`` calls an operation and gives its decoded answer; what it
  refuses is raised, and becomes a page. ``visit.query`` and ``visit.form`` hold what came, one text a name.
* ``return await visit.page("outbox.html", title="Outbox", drafts=...)`` renders a template that begins with
  ``{% extends "layout.html" %}`` and fills ``{% block main %}``. Everything is escaped; texts of others go
  through the filters ``shown`` (several lines) and ``shown_line``, which give hidden characters as numbers.
  There is no inline script or style: the Content-Security-Policy refuses both. Nothing is marked as safe but
  what ``markdown.rendered`` gives.
* ``SCREEN = Screen(name, title, path, routes, count)`` at its end, and a place for it in ``screens.SCREENS``.
  ``count`` is told in the rail, live. A ``Route`` with ``decides=True`` is refused below an agent.
* A change is a POST from ``<form method="post" action=...>{{ csrf_field }}...``: the door has checked the
  Origin and the token before a handler sees it. It ends with ``visit.see_other(path, said="Closed.")``. Rows
  of a list that j and k walk over are elements with ``data-row`` around one link.
"""
