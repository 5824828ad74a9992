import { relative } from 'node:path'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/** Files that take longest: one that began last would run alone at the end, with the other core idle. */
const LONGEST = [
  'test/simulation/simulation.test.ts',
  'test/deploy/alerts.test.ts',
  'test/deploy/dockerfile.test.ts',
  'test/security/canary-secrets.int.test.ts',
  'services/scanner/limited-provider.int.test.ts',
  'services/scanner/used-keys.int.test.ts',
  'services/scanner/unreadable-block.int.test.ts',
  'services/admin/authorisation.int.test.ts',
  'services/checkout/visitor-budgets.int.test.ts',
  'test/recovery/back-up-schedule.int.test.ts',
  'test/recovery/back-up-drill.int.test.ts',
  'test/recovery/back-up-under-load.int.test.ts',
  'test/worlds/random-worlds.int.test.ts',
  'test/chaos/downtime.int.test.ts',
  'services/admin/audit-rows.int.test.ts',
  'test/flow/faults.test.ts',
  'test/flow/command-line.test.ts',
  'test/flow/all-assets.test.ts',
  'test/flow/serve.test.ts',
  'test/browser/random-walk.test.ts',
  'test/browser/lists.test.ts',
  'test/browser/checkout-states.test.ts',
  'test/browser/every-page.test.ts',
]

/** Runs the longest files first, all others in the usual order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(process.cwd(), moduleId).replaceAll('\\', '/'))
      return at === -1 ? LONGEST.length : at
    }
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}
