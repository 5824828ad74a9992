import { type Html, html } from '#shared/contracts/html.ts'
import { inline } from './markdown.ts'
import { bodyFields, jsonFigure, parameterLists } from './page-operation.ts'
import type { ShownDocument } from './read-document.ts'

const VERIFY = `import { createHmac, timingSafeEqual } from 'node:crypto'

/** rawBody: the bytes as they came. header: X-Webhook-Signature. */
export function isGenuine(rawBody, header, secret) {
  const t = /(?:^|,)t=(\\d+)/.exec(header)?.[1]
  const v1 = /(?:^|,)v1=([0-9a-f]{64})/.exec(header)?.[1]
  if (t === undefined || v1 === undefined) return false
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) return false
  const expected = createHmac('sha256', secret)
    .update(t + '.')
    .update(rawBody)
    .digest()
  return timingSafeEqual(expected, Buffer.from(v1, 'hex'))
}`

/** The section of the request that goes the other way: an event on its way to a merchant. */
export function webhookSection(document: ShownDocument): Html {
  const { post: operation } = document.webhooks.event
  return html`<section class="operation" aria-labelledby="op-${operation.operationId}">
<div class="words">
<h3 id="op-${operation.operationId}">${operation.summary}</h3>
<p class="endpoint"><span class="method post">POST</span> <code>your endpoint's URL</code></p>
<p>${inline(operation.description)}</p>
${parameterLists(document, operation)}
${bodyFields(document, operation)}
</div>
<div class="code">
${jsonFigure('Event', operation.requestBody?.content['application/json'].example)}
<figure><figcaption>Verification in Node.js</figcaption><pre tabindex="0"><code>${VERIFY}</code></pre></figure>
</div>
</section>\n`
}
