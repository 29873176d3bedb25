import { keyRefusals, serviceRefusals } from './common-refusals.ts';
import { type Html, html } from './html.ts';
import type { OpenApiDocument } from './openapi-types.ts';
import type { Refusal } from './operation.ts';
import { unroutedRefusals } from './service-operations.ts';

/** The variables that the page's commands use; a test runs the commands with values of its own. */
const variables = `export API_KEY='cl_…'                                # your key
export VIDEO_URL='https://example.com/talk.mp4'      # a video to work on
export FACE_IMAGE_URL='https://example.com/face.jpg' # a face to put into it
export JOB_ID='…' SWAP_JOB_ID='…'                    # what the creates answered
export KEY_ID='…' DELIVERY_ID='…'                    # what the lists show`;

/** What holds for all operations. */
export function docsIntroduction({ info, servers }: OpenApiDocument): Html {
  return html`<header id="start">
<h1>${info.title} API</h1>
<p>${info.summary}</p>
<p>${info.description}</p>
<dl>
<div><dt>Base URL</dt><dd><code>${servers[0]?.url ?? ''}</code></dd></div>
<div><dt>Key</dt><dd>Every request below <code>/v1</code> carries your key in the header <code>X-API-Key</code>. The key says which team pays.</dd></div>
<div><dt>Bodies</dt><dd>JSON in UTF-8; both creates also take <code>multipart/form-data</code>. Fields that are not known are refused, so that a typo costs nothing.</dd></div>
<div><dt>Money</dt><dd>Charged when a create is accepted; what fails is given back. What is refused costs nothing.</dd></div>
<div><dt>Repeating</dt><dd>With an <code>Idempotency-Key</code>, a create can be sent again without paying twice: the first answer is given again. A 402 is not kept: after a top-up the same request with the same key goes through.</dd></div>
<div><dt>Rate</dt><dd>60 requests a minute for each key. <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code> say where you stand; after a 429, <code>Retry-After</code> says when to go on.</dd></div>
<div><dt>Waiting</dt><dd>Ask for a job's status every 5 to 10 seconds: <code>Retry-After</code> says so too.</dd></div>
</dl>
<h4>For pasting the commands below</h4>
<pre><code>${variables}</code></pre>
</header>`;
}

/** What any operation can answer instead of what it is for. */
export const docsErrors = (): Html => html`<section>
<h2 id="errors"><a href="#errors">Errors</a></h2>
<p>Every refusal is JSON with an <code>error</code> that says what was wrong. These can come from any operation; the checks of the key are made in this order.</p>
${refusalList([...keyRefusals, ...unroutedRefusals, ...serviceRefusals])}
</section>
`;

const refusalList = (refusals: readonly Refusal[]): Html => html`<dl class="refusals">
${refusals.map(({ when, answer }) => refusalRow(answer.status, String(answer.body['error']), when))}</dl>`;

/** One refusal: its status and text, and when it comes. */
export const refusalRow = (status: number | string, error: string, when: string): Html =>
  html`<div><dt>${status}</dt><dd><p><code>${error}</code></p><p class="soft">${when}</p></dd></div>
`;
