// Imports the OpenAPI document as Postman does, fills in what a person would (address, key and ids of a seeded workspace), and sends
// each of the 19 requests once with Postman's own runner.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { BASE_URL, API_KEY, DOCUMENT, CLIENT } = process.env
const load = createRequire(join(CLIENT, 'package.json'))
const converter = load('openapi-to-postmanv2')
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

const collection = await new Promise((resolve, reject) =>
  converter.convertV2(
    { type: 'string', data: readFileSync(DOCUMENT, 'utf8') },
    { folderStrategy: 'Tags', parametersResolution: 'Example', enableOptionalParameters: false },
    (error, result) =>
      error || !result.result ? reject(error ?? new Error(result.reason)) : resolve(result.output[0].data),
  ),
)
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
  for (const header of request.header) if (header.key === 'Idempotency-Key') header.disabled = true
  if (name === 'Create a payment link') request.body.raw = JSON.stringify({ product_id: product })
}
collection.variable = [
  { key: 'baseUrl', value: BASE_URL },
  { key: 'bearerToken', value: API_KEY },
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
