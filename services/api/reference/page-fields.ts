import { type Html, html } from '#shared/contracts/html.ts'
import { inline } from './markdown.ts'
import type { Field } from './schema-fields.ts'

/** More values than this are folded. */
const VALUES_SHOWN = 9

/** A list of fields: name, type, bounds, meaning and values. `request` marks the required ones. */
export function fieldList(fields: readonly Field[], kind: 'request' | 'response'): Html {
  return html`<ul class="fields">${fields.map((field) => fieldItem(field, kind))}</ul>\n`
}

function fieldItem(field: Field, kind: 'request' | 'response'): Html {
  const { path, description } = field
  return html`<li><div class="field"><code class="name">${path}</code> ${typeText(field)}${
    kind === 'request' && field.required ? html` <span class="required">required</span>` : null
  }${kind === 'response' && !field.required ? html` <span class="bound">not always there</span>` : null}${field.bounds.map(
    (bound) => html` <span class="bound">${boundText(bound)}</span>`,
  )}</div>${description === null ? null : html`<p>${inline(description)}</p>`}${valueList(field.values)}</li>\n`
}

function typeText({ type, link, nullable }: Field): Html {
  const text = `${type}${nullable ? ' or null' : ''}`
  return link === null
    ? html`<span class="type">${text}</span>`
    : html`<a class="type" href="#object-${link}">${text}</a>`
}

/** Patterns are code, other bounds are words. */
function boundText(bound: string): Html {
  const [, pattern] = /^matches (.+)$/.exec(bound) ?? []
  return pattern === undefined ? html`${bound}` : html`matches <code>${pattern}</code>`
}

function valueList(values: readonly string[]): Html | null {
  if (values.length === 0) return null
  const list = html`<p class="values">${values.map((value) => html`<code>${value}</code> `)}</p>`
  return values.length > VALUES_SHOWN
    ? html`<details><summary>${values.length} values</summary>${list}</details>`
    : list
}
