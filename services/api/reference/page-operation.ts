import { type Html, html } from '#shared/contracts/html.ts'
import { curlExample } from './curl-example.ts'
import { inline, markdown } from './markdown.ts'
import { fieldList } from './page-fields.ts'
import {
  type PlacedOperation,
  parameterOf,
  refName,
  responseOf,
  type ShownDocument,
  type ShownOperation,
  type ShownParameter,
  type ShownResponse,
  schemaOf,
} from './read-document.ts'
import { fieldOf, fieldsOf } from './schema-fields.ts'

const PARAMETER_GROUPS = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const

/** The section of one operation: what it takes, what it answers, and an example of both. */
export function operationSection(document: ShownDocument, placed: PlacedOperation): Html {
  const { method, path, operation } = placed
  const scope = operation['x-scope']
  const answers = Object.entries(operation.responses).map(
    ([status, response]) => [status, responseOf(document, response)] as const,
  )
  const [success, ...failures] = answers
  const anchor = `op-${operation.operationId}`
  return html`<section class="operation" aria-labelledby="${anchor}">
<div class="words">
<h3 id="${anchor}">${operation.summary}</h3>
<p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${markdown(withoutScope(operation.description))}
${scope === undefined ? null : html`<p class="scope">Scope <code>${scope}</code></p>`}
${parameterLists(document, operation)}
${bodyFields(document, operation)}
${success === undefined ? null : successPart(document, success)}
<h4>Errors</h4>
<ul class="errors">${failures.map(([status, response]) => errorItems(status, response))}</ul>
</div>
<div class="code">
<figure><figcaption>Request</figcaption><pre tabindex="0"><code>${curlExample(document.servers[0]?.url ?? '', placed)}</code></pre></figure>
${success === undefined ? null : answerExample(success)}
</div>
</section>\n`
}

/** Fields of a parameter list by place: path, query and header. */
export function parameterLists(document: ShownDocument, operation: ShownOperation): Html {
  const parameters = (operation.parameters ?? []).map((parameter) => parameterOf(document, parameter))
  const groups = Object.entries(PARAMETER_GROUPS).map(([place, title]) => {
    const here = parameters.filter((parameter) => parameter.in === place)
    if (here.length === 0) return null
    return html`<h4>${title}</h4>${fieldList(
      here.map((parameter) => parameterField(document, parameter)),
      'request',
    )}`
  })
  return html`${groups}`
}

/** The fields of the request body, with those of the objects inside. */
export function bodyFields(document: ShownDocument, operation: ShownOperation): Html | null {
  const schema = operation.requestBody?.content['application/json'].schema
  if (schema === undefined) return null
  return html`<h4>Body</h4>${fieldList(fieldsOf(document, schema), 'request')}`
}

/** A value as formatted JSON. */
export function jsonFigure(caption: string, value: unknown): Html {
  return html`<figure><figcaption>${caption}</figcaption><pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre></figure>`
}

/** The page shows the scope on a line of its own. */
function withoutScope(description: string): string {
  return description.replace(/\n\nScope: `[^`]+`\.$/, '')
}

function parameterField(document: ShownDocument, { name, schema, required = false, description }: ShownParameter) {
  return { ...fieldOf(document, schema, name, required), description }
}

function successPart(document: ShownDocument, [status, response]: readonly [string, ShownResponse]): Html {
  const schema = response.content?.['application/json'].schema
  const data = schema === undefined ? undefined : schemaOf(document, schema).properties?.['data']
  const ref = data?.$ref ?? data?.items?.$ref
  return html`<h4>Answer</h4><p><span class="status">${status}</span> ${inline(response.description)}${
    ref === undefined
      ? null
      : html` <code>data</code>: ${data?.items === undefined ? null : 'list of '}<a href="#object-${refName(ref)}">${refName(ref)}</a>`
  }</p>`
}

function errorItems(status: string, response: ShownResponse): readonly Html[] {
  const { examples = {} } = response.content?.['application/json'] ?? {}
  return Object.entries(examples).map(
    ([code, { value }]) =>
      html`<li><span class="status">${status}</span> <a href="#errors"><code>${code}</code></a> <span>${messageOf(value)}</span></li>`,
  )
}

function messageOf(example: unknown): string {
  const { error } = example as { readonly error: { readonly message: string } }
  return error.message
}

function answerExample([status, response]: readonly [string, ShownResponse]): Html | null {
  const example = response.content?.['application/json'].example
  return example === undefined ? null : jsonFigure(`Answer ${status}`, example)
}
