"""How things of this package look in a notebook: short texts, and tables in HTML. Nothing here reads a file."""

import html

MOST_TEXT = 160  # characters of a name in a text
MOST_COLUMNS, MOST_ROWS = 12, 8  # of a table that is shown
STYLE = "text-align:left;padding:2px 10px 2px 0"


def cut(text, most=MOST_TEXT):
    """Printable, and its end if it is long: the end of a path tells more than its begin."""
    text = "".join(c if c.isprintable() else "?" for c in str(text))
    return text if len(text) <= most else "..." + text[-most:]


def number(value, digits=6):
    return "%.*g" % (digits, value)


def facts_html(title, rows):
    """A table of names and values under a title; a value of None is left out."""
    body = "".join('<tr><th style="%s">%s</th><td style="%s">%s</td></tr>' % (
        STYLE, html.escape(name), STYLE, html.escape(cut(value))) for name, value in rows if value is not None)
    return "<div><b>%s</b><table>%s</table></div>" % (html.escape(cut(title)), body)


def rows_html(names, units, columns, count, note=""):
    """First and last rows of a table.   names: of columns; columns: {name: array [count]}"""
    shown = list(range(count)) if count <= MOST_ROWS else \
        [*range(MOST_ROWS // 2), None, *range(count - MOST_ROWS // 2, count)]
    head = "".join('<th style="%s">%s</th>' % (STYLE, html.escape(name)) for name in names)
    unit = "".join('<td style="%s">%s</td>' % (STYLE, html.escape(str(units.get(name, "")))) for name in names)
    body = "".join("<tr>%s</tr>" % "".join('<td style="%s">%s</td>' % (
        STYLE, "..." if k is None else number(columns[name][k])) for name in names) for k in shown)
    return "<div><table><thead><tr>%s</tr><tr>%s</tr></thead><tbody>%s</tbody></table>%s</div>" % (
        head, unit, body, html.escape(note))
