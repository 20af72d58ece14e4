"""The report as one HTML file that travels: `render_html`."""

from tracekit.report.renderers.html.page import render_html as render_html
