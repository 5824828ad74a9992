import { execFile } from 'node:child_process'
import { beforeAll, expect, it } from 'vitest'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { openReconciliationStage } from '#test/support/reconciliation-stage.ts'
import { runCommand } from '#test/support/run-command.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let stage: Awaited<ReturnType<typeof openReconciliationStage>>
beforeAll(async () => {
  stage = await openReconciliationStage(stores)
})

interface Verdict {
  readonly status: number
  readonly text: string
}

function settings(): Readonly<Record<string, string>> {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  return {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8) },
    PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls',
  }
}

async function run(...args: readonly string[]): Promise<Verdict> {
  const { status, stdout } = await runCommand(['reconcile', ...args], settings())
  return { status, text: stdout }
}

/** The same as a script runs it. */
function runAsProcess(...args: readonly string[]): Promise<Verdict> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...settings() }
  return new Promise((resolve) =>
    execFile(process.execPath, ['scripts/paymesh.mjs', 'reconcile', ...args], { env }, (error, stdout) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, text: stdout }),
    ),
  )
}

it('ends with status 0 while the books are right, and with 1 and the invoice when they are not', async () => {
  expect(await run()).toEqual({
    status: 0,
    text: `Reconciliation passed: ${stage.count} invoices.\n`,
  })
  const invoiceId = stage.idOf('paid')
  await stores.db.collection(PAYMENTS).updateOne({ invoiceId }, { $set: { amountBase: '1' } })
  const shown = await runAsProcess('--since', '2', '--json')
  expect(shown.status).toBe(1)
  expect(JSON.parse(shown.text)).toMatchObject({
    right: false,
    evaluated: stage.count,
    violations: [{ invariant: 'sums', invoice_id: invoiceId, payment_key: expect.any(String) }],
  })
  expect((await run()).text).toContain(`${invoiceId}  sums`)
  expect(await run('--since', 'yesterday')).toMatchObject({ status: 1 })
})
