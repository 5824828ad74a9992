import { type Html, html } from '#shared/contracts/html.ts'
import { headingsOf, inline, markdown, slug } from './markdown.ts'
import { fieldList } from './page-fields.ts'
import { operationSection } from './page-operation.ts'
import { PAGE_STYLE } from './page-style.ts'
import { webhookSection } from './page-webhook.ts'
import { operationsOf, refName, type Schema, type ShownDocument, schemaOf } from './read-document.ts'
import { fieldOf, fieldsOf } from './schema-fields.ts'

/** Where the webhook's section stands. */
const WEBHOOK_TAG = 'Webhook endpoints'

/** The reference page of the interface: one HTML document without scripts, its style inside, nothing from other hosts. */
export function createReferencePage(document: ShownDocument): string {
  const { title, version, description } = document.info
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API reference</title>
<link rel="icon" href="data:,">
<style>${{ markup: PAGE_STYLE }}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the reference</a>
<header class="top"><a class="brand" href="#main">${title} <span>API reference</span></a><span class="version">Version ${version}</span><a class="to-menu" href="#menu">Contents</a><a href="openapi.json">openapi.json</a></header>
<div class="frame">
<nav class="side" aria-label="Contents">${contents(document)}</nav>
<main id="main">
<h1>${title} API reference</h1>
<p class="base">Base URL <code>${document.servers[0]?.url ?? ''}</code></p>
<details class="menu" id="menu"><summary>Contents</summary><nav aria-label="Contents">${contents(document)}</nav></details>
<div class="prose">${markdown(description)}
<h2 id="headers">Headers of answers</h2>
${fieldList(headerFields(document), 'request')}</div>
${document.tags.map((tag) => tagSection(document, tag))}
</main>
</div>
</body>
</html>
`.markup
}

function contents(document: ShownDocument): Html {
  const basics = [...headingsOf(document.info.description), 'Headers of answers']
  return html`<h2>Getting started</h2>
<ul>${basics.map((title) => html`<li><a href="#${title === 'Headers of answers' ? 'headers' : slug(title)}">${title}</a></li>\n`)}</ul>
${document.tags.map(({ name }) => {
  const operations = operationsOf(document, name).map(({ operation }) => operation)
  const shown = name === WEBHOOK_TAG ? [...operations, document.webhooks.event.post] : operations
  return html`<h2><a href="#tag-${slug(name)}">${name}</a></h2>
<ul>${shown.map(({ operationId, summary }) => html`<li><a href="#op-${operationId}">${summary}</a></li>\n`)}${resourcesOf(
    document,
    name,
  ).map((resource) => html`<li><a href="#object-${resource}">Object <code>${resource}</code></a></li>\n`)}</ul>\n`
})}`
}

function tagSection(document: ShownDocument, { name, description }: ShownDocument['tags'][number]): Html {
  return html`<section class="tag" aria-labelledby="tag-${slug(name)}">
<h2 id="tag-${slug(name)}">${name}</h2>
<p>${inline(description)}</p>
${operationsOf(document, name).map((placed) => operationSection(document, placed))}
${name === WEBHOOK_TAG ? webhookSection(document) : null}
${resourcesOf(document, name).map((resource) => objectSection(document, resource))}
</section>\n`
}

function objectSection(document: ShownDocument, name: string): Html {
  const schema = { $ref: `#/components/schemas/${name}` }
  return html`<section class="object" aria-labelledby="object-${name}">
<h3 id="object-${name}">Object <code>${name}</code></h3>
<p>${inline(schemaOf(document, schema).description ?? '')}</p>
${fieldList(fieldsOf(document, schema), 'response')}
</section>\n`
}

/** Names of the resources that the operations of a tag return. */
function resourcesOf(document: ShownDocument, tag: string): readonly string[] {
  const names = operationsOf(document, tag).flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap((response) => {
      if ('$ref' in response || response.content === undefined) return []
      const data: Schema = schemaOf(document, response.content['application/json'].schema).properties?.['data'] ?? {}
      const ref = data.$ref ?? data.items?.$ref
      return ref === undefined ? [] : [refName(ref)]
    }),
  )
  return [...new Set(names)]
}

function headerFields(document: ShownDocument) {
  return Object.entries(document.components.headers).map(([name, { schema, description }]) => ({
    ...fieldOf(document, schema, name, false),
    description,
  }))
}
