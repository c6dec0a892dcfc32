"""Names that would do something if a page let them."""

import pandas as pd

import harness

#: HTML, the end of a script, what Plotly takes for a link, what Jinja2 takes for an expression.
HOSTILE = "</script><script>window.hacked=1</script><a href='javascript:hacked=1'>x</a>{{ 7*7 }}&lt;%{x}"


class Renamed(harness.Results):
    """Results in which the first scheduler bears that name."""

    def frame(self) -> pd.DataFrame:
        """As they are, but for the name."""
        frame = super().frame()
        first = frame["scheduler"].iloc[0]
        return frame.assign(scheduler=frame["scheduler"].replace({first: HOSTILE}))
