import type { Database } from '#shared/db/connection/connect.ts'
import { evaluate } from '#test/chaos/verdict.ts'
import type { Check } from './checks.ts'
import type { CommandLine } from './command-line.ts'
import type { Merchant } from './merchants.ts'

/** The merchants' books, the store and the receivers agree, as after a chaos run; nothing waits for another attempt. */
export async function compareEvidence(db: Database, merchants: readonly Merchant[]): Promise<readonly Check[]> {
  const verdicts = await Promise.all(
    merchants.map(async (merchant) => {
      const { ledger, receivers, endpoints, workspaceId } = merchant
      return await evaluate({ db, ledger: ledger.lines, arrivals: receivers.arrivals, endpoints, workspaceId })
    }),
  )
  const count = (name: string): number => verdicts.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0)
  const promises = [...new Set(verdicts.flatMap(({ breaches }) => Object.keys(breaches)))]
  const waiting = count('waiting for their next attempt')
  return [
    ...promises
      .filter((promise) => !promise.startsWith('duplicates'))
      .map((promise) => ({
        promise,
        checked: count(COUNTED.find(([word]) => promise.includes(word))?.[1] ?? 'invoices'),
        faults: verdicts.flatMap(({ breaches }) => breaches[promise] ?? []),
      })),
    {
      promise: 'every webhook arrived, and none twice without need',
      checked: count('delivered'),
      faults: [
        ...(waiting > 0 ? [`${waiting} deliveries still wait for their next attempt`] : []),
        ...(count('duplicates') > 0
          ? [`${count('duplicates')} deliveries were sent again although they had arrived`]
          : []),
      ],
    },
  ]
}

/** What a promise of the verdict was checked on, by a word in it. */
const COUNTED: readonly (readonly [string, string])[] = [
  ['transfer', 'transfers'],
  ['event', 'events'],
  ['retry', 'attempts'],
  ['acknowledged', 'acknowledged'],
]

interface AuditVerdict {
  readonly intact: boolean
  readonly checked: number
  readonly unchained: { readonly waiting: number }
}

/** `audit verify` and `reconcile` of the release whose command line this is. */
export async function checkRecords(cli: CommandLine): Promise<readonly Check[]> {
  const audit = await cli.json<AuditVerdict>('audit', 'verify')
  const { status, stdout } = await cli.run('reconcile', '--json')
  const records = JSON.parse(stdout) as { evaluated: number; not_checked: number; violations: readonly object[] }
  return [
    {
      promise: 'the audit chain verifies, and no row waits for its place',
      checked: audit.checked,
      faults: audit.intact && audit.unchained.waiting === 0 ? [] : [JSON.stringify(audit)],
    },
    {
      promise: '`paymesh reconcile` finds no fault',
      checked: records.evaluated,
      faults: [
        ...records.violations.map((violation) => JSON.stringify(violation)),
        ...(status === 0 ? [] : [`it ended with status ${status}`]),
        ...(records.not_checked === 0 ? [] : [`${records.not_checked} invoices were not checked`]),
      ],
    },
  ]
}
