import { createRepositories } from '#shared/db/create-repositories.ts'
import { type Mode, SCOPES } from '#shared/domain/enumerations.ts'
import type { WalletKind } from '#shared/ports/key-material.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { deriveAhead, ensureSandboxMaterials } from '#shared/usecases/wallets/address-headroom.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { issueKey } from '#test/support/issue-key.ts'
import type { Prng } from '../kernel/prng.ts'
import { simCatalog } from '../processes/catalog.ts'
import { createSimRandom } from '../processes/surroundings.ts'
import { openSimulatedDatabase } from '../store/simulated-database.ts'
import { simAddress, simAddressBook } from './address-book.ts'
import { simKeyHasher, simSecretBox } from './secret-box.ts'
import type { Sim } from './sim.ts'

/** A merchant with keys of both modes. */
export interface Tenant {
  readonly workspace: Workspace
  readonly keys: Readonly<Record<Mode, { readonly id: string; readonly apiKey: string }>>
}

const NO_LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
const NO_METRICS: Metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined }

/** Opens workspaces with keys and wallets before anything is simulated: an installation in good order. */
export async function setUpTenants(sim: Sim, random: Prng): Promise<readonly Tenant[]> {
  const db = openSimulatedDatabase(sim.store, async (_operation, run) => run())
  const logger = { ...NO_LOG, child: () => logger }
  const ids = createSimRandom(random.fork('ids'), () => sim.scheduler.now)
  const deps = {
    ...createRepositories(db, { random: ids, logger }),
    clock: { now: () => sim.scheduler.now },
    random: ids,
    logger,
    metrics: NO_METRICS,
    catalog: simCatalog(sim),
    marks: NO_MARKS,
    hasher: simKeyHasher,
    addressBook: simAddressBook,
    secretBox: simSecretBox,
  }
  await ensureSandboxMaterials(deps)
  const tenants: Tenant[] = []
  for (let one = 0, count = random.between(1, 2); one < count; one += 1) {
    const workspace = await createWorkspace(deps, {
      name: `Shop ${one}`,
      ownerEmail: `owner${one}@example.com`,
      actor: 'test',
    })
    const change = { policy: { ...workspace.policy, toleranceBps: random.pick([0, 0, 100]) } }
    const updated = (await deps.workspaces.update(workspace.id, change)) ?? workspace
    const key = async (mode: Mode) => {
      const { record, apiKey } = await issueKey(deps, {
        workspaceId: workspace.id,
        mode,
        scopes: SCOPES,
        actor: 'test',
      })
      return { id: record.id, apiKey }
    }
    for (const { mode, family, network } of sim.chains.values()) {
      if (mode === 'test' && random.chance(0.6)) continue
      const kind: WalletKind = random.pick(
        family === 'evm' ? ['xpub', 'xpub', 'pool', 'address'] : ['xpub', 'xpub', 'pool'],
      )
      const secret = `wallet of ${one} in ${mode}:${network}`
      const value =
        kind === 'xpub'
          ? `xpub ${secret}`
          : Array.from(
              { length: kind === 'pool' ? 6 : 1 },
              (_, index) => simAddress(secret, index, family).address,
            ).join('\n')
      // No process of the simulation looks for earlier use of keys.
      const begin = kind === 'xpub' ? { startIndex: 0 } : {}
      await addWallet(deps, { workspaceId: workspace.id, mode, family, kind, value, networks: [network], ...begin })
    }
    tenants.push({ workspace: updated, keys: { live: await key('live'), test: await key('test') } })
  }
  await deriveAhead(deps, 24)
  return tenants
}
