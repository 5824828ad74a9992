import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { verifyWebhook } from '#clients/typescript/src/main.ts'
import { codeBlocks } from '#test/docs/code-blocks.ts'
import { useWorld } from '#test/support/use-world.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'

const world = useWorld()
const run = promisify(execFile)

/** Guards the first quarter of an hour with us: what the merchant guide tells to paste works as it stands, one step after the other. */
test('the requests of the merchant guide lead from an invoice to a verified webhook', async () => {
  const blocks = codeBlocks(readFileSync('docs/guide/merchant.md', 'utf8'))
  const { dev } = world()
  const receiver = await startWebhookReceiver()
  const paste = async (step: string, env: Readonly<Record<string, string>>) => {
    const code = blocks.find(({ attributes }) => attributes['run'] === step)?.code
    const { PATH = '' } = process.env
    const given = { PATH, PAYMESH_API: dev.apiUrl, PAYMESH_KEY: dev.testKey, ...env }
    const { stdout } = await run('sh', ['-c', code ?? 'exit 1'], { env: given })
    const { data, error } = JSON.parse(stdout)
    expect(error).toBeNull()
    return data
  }
  try {
    const endpoint = await paste('endpoint', { RECEIVER_URL: receiver.url })
    const invoice = await paste('first-invoice', {})
    expect(await paste('first-invoice', {})).toEqual(invoice)
    expect(invoice.urls.checkout).toContain(invoice.id)
    await paste('simulate', { INVOICE_ID: invoice.id })
    const paid = await receiver.waitFor((request) => {
      const event = JSON.parse(request.body.toString('utf8'))
      return event.type === 'invoice.paid' && event.data.object.id === invoice.id
    }, 30_000)
    const event = verifyWebhook(paid.body, paid.headers['x-webhook-signature'], endpoint.secret)
    expect(event.data.object).toMatchObject({ order_id: '1001', status: 'paid' })
    expect(await paste('thank-you', {})).toMatchObject([{ id: invoice.id, status: 'paid' }])
  } finally {
    await receiver.close()
  }
})
