import fc from 'fast-check'
import { it } from 'vitest'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { useChaosStage } from './chaos-stage.ts'
import { openEthereum } from './ethereum-chain.ts'
import { SEQUENCES_TIMEOUT_MS, sequence, sequenceSettings } from './sequences.ts'

const stores = useStores()
const scratch = useStores()
const stage = useChaosStage(stores, scratch, openEthereum, true)

// Guarantee: a scanner that reads only what invoices need stores the same money, also across changes between the modes.
it(
  'random payments, reorganisations, kills, node faults and changes of mode end where a scan from scratch ends',
  { timeout: SEQUENCES_TIMEOUT_MS },
  () =>
    fc.assert(
      fc.asyncProperty(sequence, (actions) => stage.run(actions)),
      sequenceSettings(0.4, EVERY_CASE ? 5 : 2),
    ),
)
