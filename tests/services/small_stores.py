"""Memories of made projects, each with a question that it answers, and questions that none of them
answers.
"""

import json
from pathlib import Path

from tests import benchmarks

ANSWERED = (
    ("The billing service retries a failed Stripe webhook three times, one minute apart.",
     "how often is a failed stripe webhook retried"),
    ("Use pnpm in the frontend; npm writes a lock file that CI refuses.",
     "which package manager does the frontend use"),
    ("Migrations run in their own job before the deployment, never at application start.", "when do migrations run"),
    ("The staging database is restored from last night's production dump at 05:00.",
     "how is the staging database filled"),
    ("Sessions expire after 30 minutes without activity, whatever the refresh token says.",
     "when does a session expire"),
    ("The search index is rebuilt on Sundays, since Elasticsearch loses synonyms after an upgrade.",
     "why is the search index rebuilt every week"),
    ("Feature flags live in Redis under the prefix flags:, and are cached for ten seconds.",
     "where are the feature flags stored"),
    ("Never call the courier API from a request handler: it takes up to eight seconds.",
     "may a request handler call the courier api"),
    ("Dates are stored in UTC and shown in the time zone of the warehouse.", "in which time zone are dates stored"),
    ("The PDF invoices are rendered by WeasyPrint because wkhtmltopdf broke tables over two pages.",
     "what renders the PDF invoices"),
    ("The test of the import fails on Windows, as the path separator is hard-coded.",
     "why does the import test fail on windows"),
    ("Logs of the gateway go to Loki, with the request id as a label.", "where do the gateway logs go"),
    ("A pull request needs two approvals when it touches the payment module.",
     "how many approvals does a payment pull request need"),
    ("The mobile app pins the certificate of the API; rotate it only together with a release.",
     "what must happen before the API certificate is rotated"),
    ("Uploads above 20 MB are refused by nginx with 413 before the application sees them.",
     "why does a large upload fail with 413"),
    ("The nightly report of sales was slow because of a missing index on orders.created_at.",
     "what made the sales report slow"),
    ("Secrets come from Vault at start; nobody writes them into environment files.", "where do secrets come from"),
    ("The worker pool has eight processes, one for each core of the machine.",
     "how many processes has the worker pool"),
    ("Customers are merged by e-mail address in lower case.", "how are duplicate customers merged"),
    ("The queue of thumbnails stalls when ImageMagick meets a CMYK file.", "what makes the thumbnail queue stall"),
    ("Run make seed after a checkout, or the login page shows an empty list of tenants.",
     "why is the list of tenants empty on the login page"),
    ("The parser of bank statements accepts MT940 and CAMT.053, and nothing else.",
     "which formats does the bank statement parser accept"),
    ("We chose Postgres row level security to separate tenants.", "how are tenants separated in Postgres"),
    ("The linter runs with ruff; black was removed in March.", "which linter is used"),
    ("GraphQL queries deeper than seven levels are rejected.", "how deep may a graphql query be"),
    ("The release branch is cut on Thursdays and deployed on Mondays.", "when is the release branch cut"),
    ("Prices are integers in cents; a float lost a cent in the discount code.", "how are prices represented"),
    ("Kubernetes restarts the exporter every night because it leaks memory.",
     "why does the exporter restart every night"),
    ("The address form validates postcodes by country with a table from the post office.",
     "how are postcodes validated"),
    ("E-mails in tests are caught by Mailhog on port 8025.", "where do e-mails go in tests"),
    ("The cache of translations must be cleared by hand after an upload of new strings.",
     "what has to be done after uploading new translation strings"),
    ("The websocket server drops a client that sends no ping for 45 seconds.",
     "when does the websocket server drop a client"),
    ("Backups are encrypted with age and kept for 35 days.", "how long are backups kept"),
    ("The importer of the catalogue skips rows without an EAN and counts them.",
     "what does the catalogue importer do with rows without an EAN"),
)  # fmt: skip

UNRELATED = tuple(
    json.loads(line)["query"]
    for line in Path(benchmarks.__file__)
    .with_name("off_topic.jsonl")
    .read_text("utf-8")
    .splitlines()
)
