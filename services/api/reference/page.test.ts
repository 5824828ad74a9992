import { describe, expect, it } from 'vitest'
import { ROUTES } from '../routes.ts'
import { createOpenApiDocument } from './document.ts'
import { createReferencePage } from './page.ts'

const VOID_TAGS = new Set(['meta', 'link', 'br', 'wbr', '!doctype'])
const document = JSON.parse(JSON.stringify(createOpenApiDocument('https://api.example.com/api/v1')))
const page = createReferencePage(document)

/** The section of an operation, from its heading to the end. */
function sectionOf(operationId: string): string {
  const start = page.indexOf(`<h3 id="op-${operationId}">`)
  return page.slice(start, page.indexOf('</section>', start))
}

describe('the reference page', () => {
  it.each(ROUTES)('shows $operationId with scope, request, example, answers and errors', (operation) => {
    const section = sectionOf(operation.operationId)
    expect(section).toContain(`>${operation.method}</span> <code>${operation.path}</code>`)
    expect(section).toContain(`<code>${operation.scope}</code>`)
    expect(section).toContain(`curl ${operation.method === 'GET' ? '' : `-X ${operation.method} `}&#39;https://api.exa`)
    expect(section).toContain(`<figcaption>Answer ${operation.success.status}</figcaption>`)
    expect(section).toContain('<code>RATE_LIMITED</code>')
    for (const code of operation.errors) expect(section).toContain(`<code>${code}</code>`)
    expect(section.includes('<code class="name">Idempotency-Key</code>')).toBe(operation.method === 'POST')
    for (const name of Object.keys(operation.query?.shape ?? {})) {
      expect(section).toContain(`<code class="name">${name}</code>`)
    }
  })

  it('shows the fields of a body with type, bounds, meaning and values', () => {
    const section = sectionOf('createInvoice')
    expect(section).toMatch(
      /<code class="name">amount<\/code> <span class="type">string<\/span>.{0,9}<span class="required">/,
    )
    expect(section).toMatch(/<code class="name">expires_in<\/code>[^\n]*integer[^\n]*300 to 2,592,000/)
    expect(section).toMatch(/<code class="name">customer\.email<\/code> <span class="type">e-mail address/)
    expect(section).toMatch(/<code class="name">metadata<\/code>[^\n]*map of strings[^\n]*at most 50 keys/)
    expect(section).toContain('<summary>22 values</summary>')
    expect(section).toContain('<code>usdt_tron</code>')
  })

  it('shows the event, its headers and how to verify it', () => {
    const section = sectionOf('receiveEvent')
    expect(section).toContain('<code class="name">X-Webhook-Signature</code>')
    expect(section).toContain('<code>invoice.late_payment</code>')
    expect(section).toContain('timingSafeEqual')
  })

  it('closes every element in order', () => {
    const open: string[] = []
    for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z!][a-z0-9]*)\b[^>]*>/gi)) {
      if (VOID_TAGS.has(name.toLowerCase())) continue
      if (slash === '') open.push(name)
      else expect(open.pop()).toBe(name)
    }
    expect(open).toEqual([])
  })

  it('has every target of its links, each once', () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const targets = [...page.matchAll(/ href="#([^"]*)"/g)].map(([, target]) => target)
    expect(targets.filter((target) => !ids.includes(target))).toEqual([])
  })

  it('runs no script and loads nothing', () => {
    expect(page).not.toMatch(/<script|<iframe|<img|@import|url\(| src=| on[a-z]+=/i)
    expect([...page.matchAll(/ href="([^"#]*)"/g)].map(([, href]) => href)).toEqual(['data:,', 'openapi.json'])
  })

  // Guarantee: a text in the document, wherever it comes from, is shown and never runs.
  it('shows hostile text as text', () => {
    const hostile = '<img src=x onerror=alert(1)>"\'`<b>`'
    const changed = structuredClone(document)
    const operation = changed.paths['/invoices'].post
    operation.summary = operation.description = operation['x-scope'] = hostile
    operation.requestBody.content['application/json'].example = { [hostile]: hostile }
    changed.components.schemas.InvoiceCreate.properties[hostile] = { type: 'string', enum: [hostile] }
    changed.components.schemas.InvoiceCreate.properties.amount.pattern = '<i>'
    changed.servers[0].url = hostile
    changed.tags[0].description = changed.info.title = hostile
    const text = createReferencePage(changed)
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(text).not.toMatch(/<img|<b>|<i>/)
  })
})
