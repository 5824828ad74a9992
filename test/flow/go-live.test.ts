import { expect, inject, test } from 'vitest'
import { runCommand } from '#test/support/run-command.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

interface Item {
  readonly item: string
  readonly state: string
  readonly reason: string | null
  readonly steps: Readonly<Record<string, unknown>> | null
}
interface Report {
  readonly isReady: boolean
  readonly lines: readonly Item[]
}

/** Runs a step of `paymesh go-live`, which ends with 1 until everything has passed. */
async function goLive(...args: readonly string[]): Promise<{ readonly status: number; readonly report: Report }> {
  const scope = ['--workspace', world().workspaceId, '--mode', 'test', '--json', '--data', inject('stackDataDir')]
  const { status, stdout, stderr } = await runCommand(['go-live', ...args, ...scope])
  if (status > 1 || stdout === '') throw new Error(stderr)
  return { status, report: JSON.parse(stdout) as Report }
}
const itemOf = ({ lines }: Report, name: string): Item | undefined => lines.find(({ item }) => item === name)

const SLOW_MACHINE_MS = 600_000

// Story: a merchant rehearses going live, pays their own small invoice, and sees it through to their webhook.
test(
  'a self-payment is followed from its invoice to the delivered webhook',
  async () => {
    const first = await goLive('check')
    expect(first.status).toBe(1)
    expect(first.report.isReady).toBe(false)
    expect(itemOf(first.report, 'nodes')).toMatchObject({ state: 'passed' })
    expect(itemOf(first.report, 'second_source')).toMatchObject({ state: 'failed', reason: 'one_source' })
    expect(itemOf(first.report, 'backup')).toMatchObject({ state: 'failed', reason: 'backup_missing' })
    expect(itemOf(first.report, 'payment:ethereum')).toMatchObject({ state: 'open', steps: null })

    const started = await goLive('pay', '--asset', 'usdt_ethereum', '--amount', '5.00')
    const waiting = itemOf(started.report, 'payment:ethereum')
    expect(waiting).toMatchObject({ state: 'open', steps: { seen: false, paid: false, delivered: false } })
    const invoice = await world().getInvoice(String(waiting?.steps?.['invoiceId']))
    expect(invoice).toMatchObject({ metadata: { paymesh_go_live: 'ethereum' }, source: 'manual' })

    await world().pay(invoice)
    await world().waitForEvent(invoice.id, 'invoice.paid')
    // The receiver has the event; its delivery is stored as succeeded a moment later.
    await expect
      .poll(async () => itemOf((await goLive('check')).report, 'payment:ethereum')?.state, { timeout: 60_000 })
      .toBe('passed')
    const last = await goLive('check')
    expect(itemOf(last.report, 'payment:ethereum')?.steps).toMatchObject({ seen: true, paid: true, delivered: true })
    expect(itemOf(last.report, 'webhook')).toMatchObject({ state: 'passed' })
  },
  SLOW_MACHINE_MS,
)
