import fc from 'fast-check'
import { it } from 'vitest'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { useChaosStage } from './chaos-stage.ts'
import { openEthereum } from './ethereum-chain.ts'
import { SEQUENCES_TIMEOUT_MS, sequence, sequenceSettings } from './sequences.ts'

const stores = useStores()
const scratch = useStores()
const stage = useChaosStage(stores, scratch, openEthereum)

// Guarantee: whatever chain, node and scanner do, stored money is what a scan from scratch finds, and invoices add up to it.
it(
  'random payments, reorganisations, restarts, kills and node faults on anvil end where a scan from scratch ends',
  { timeout: SEQUENCES_TIMEOUT_MS },
  () =>
    fc.assert(
      fc.asyncProperty(sequence, (actions) => stage.run(actions)),
      sequenceSettings(0.6, EVERY_CASE ? 6 : 3),
    ),
)
