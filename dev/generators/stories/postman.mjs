// Imports the OpenAPI document as Postman does, or takes the collection that is named, fills in what a person would (address, key and ids
// of a seeded workspace), and sends each of the 19 requests once with Postman's own runner.
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { BASE_URL, API_KEY, DOCUMENT, CLIENT } = process.env
const load = createRequire(join(CLIENT, 'package.json'))
const newman = load('newman')

/** Creates a record that a request needs. */
async function seed(path, body) {
  const response = await fetch(`${BASE_URL}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { data, error } = await response.json()
  if (data === null) throw new Error(`POST ${path}: ${error.code}`)
  return data.id
}
const price = { amount: '10.00', currency: 'USD' }
const product = await seed('/products', { name: 'Seeded', price: '5.00', currency: 'USD' })
const newLink = () => seed('/payment-links', { product_id: product })
const newInvoice = () => seed('/invoices', price)
/** The path variable of each request that has one. */
const IDS = {
  'Read an invoice': await newInvoice(),
  'Cancel an invoice': await newInvoice(),
  'Simulate a payment': await newInvoice(),
  'Read a payment link': await newLink(),
  'Deactivate a payment link': await newLink(),
  'Read a product': product,
  'Delete a webhook endpoint': await seed('/webhook-endpoints', { url: 'http://localhost:9/hooks', events: ['*'] }),
}

const [, , committed] = process.argv
/** The document as Postman imports it. */
const imported = () =>
  new Promise((resolve, reject) =>
    load('openapi-to-postmanv2').convertV2(
      { type: 'string', data: readFileSync(DOCUMENT, 'utf8') },
      { folderStrategy: 'Tags', parametersResolution: 'Example', enableOptionalParameters: false },
      (error, result) =>
        error || !result.result ? reject(error ?? new Error(result.reason)) : resolve(result.output[0].data),
    ),
  )
const collection = committed === undefined ? await imported() : JSON.parse(readFileSync(committed, 'utf8'))
const requests = []
const visit = (items) => {
  for (const item of items) {
    if (item.item) visit(item.item)
    else requests.push(item)
  }
}
visit(collection.item)
for (const { name, request } of requests) {
  for (const variable of request.url.variable ?? []) {
    if (IDS[name] === undefined) throw new Error(`no ${variable.key} for "${name}"`)
    variable.value = IDS[name]
  }
  // An import has the one key of the example for all requests.
  for (const header of request.header)
    if (header.key === 'Idempotency-Key' && committed === undefined) header.disabled = true
  // Another collection may have created the product of the example.
  if (name === 'Create a product')
    request.body.raw = JSON.stringify({ ...JSON.parse(request.body.raw), sku: randomUUID() })
  if (name === 'Create a payment link') request.body.raw = JSON.stringify({ product_id: product })
}
const [address, key] = committed === undefined ? ['baseUrl', 'bearerToken'] : ['base_url', 'api_key']
collection.variable = [
  { key: address, value: BASE_URL },
  { key, value: API_KEY },
]
writeFileSync(join(CLIENT, 'collection.json'), JSON.stringify(collection))

const { run } = await new Promise((resolve, reject) =>
  newman.run({ collection, reporters: [] }, (error, summary) => (error ? reject(error) : resolve(summary))),
)
const refused = run.executions
  .filter(({ response }) => !(response?.code >= 200 && response.code < 300))
  .map(
    ({ item, response }) => `${item.name}: ${response?.code ?? 'no response'} ${response?.text().slice(0, 200) ?? ''}`,
  )
if (run.executions.length !== 19 || refused.length > 0) {
  throw new Error(`${run.executions.length} requests; ${refused.join('; ') || 'all 2xx'}`)
}
process.stdout.write('19 requests, all 2xx\n')
