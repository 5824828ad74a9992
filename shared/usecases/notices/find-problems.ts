import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Problem } from '#shared/domain/problems/episodes.ts'
import type { StoreRedundancyReader } from '#shared/ports/store-redundancy.ts'
import { BACKUP_AGE_MAX_MS, backupAge, CHANGES_AGE_MAX_MS } from '#shared/ports/verified-backups.ts'
import { redundancyHealth } from '#shared/usecases/maintenance/redundancy-health.ts'
import { networkName, stuckRowId } from '#shared/usecases/networks/report-stuck-networks.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of looking for problems. */
export type FindProblemsDeps = Uses<'clock' | 'exceptions' | 'verifiedBackups'> & {
  readonly redundancy: StoreRedundancyReader
}

const HOUR_MS = 3_600_000

/**
 * What is wrong with the installation that somebody must repair: networks that do not advance, as their exceptions say, the last back-up, and the
 * store. At most one for each network and each of the others.
 */
export async function findProblems(deps: FindProblemsDeps): Promise<readonly Problem[]> {
  const found = await Promise.all([stuckNetworks(deps), backupProblems(deps), storeProblems(deps)])
  return found.flat()
}

async function stuckNetworks({ exceptions }: FindProblemsDeps): Promise<readonly Problem[]> {
  const networks = MODES.flatMap((mode) => NETWORK_IDS.map((network) => ({ mode, network })))
  const rows = await Promise.all(networks.map((of) => exceptions.findById(stuckRowId(of))))
  return rows.flatMap((row, place) => {
    const of = networks[place]
    if (of === undefined || row === null || row.closedAt !== null) return []
    const headline = `${networkName(of.mode, of.network)} does not advance`
    // The row itself appears only once a network has been stuck for a minute.
    return [{ name: row.id, headline, text: row.detail, patienceMs: 0 }]
  })
}

async function backupProblems({ clock, verifiedBackups }: FindProblemsDeps): Promise<readonly Problem[]> {
  const [verified, attempt, changes] = await Promise.all([
    verifiedBackups.latest(),
    verifiedBackups.lastAttempt(),
    verifiedBackups.latestChanges(),
  ])
  const hasFailed = attempt?.failure != null && (verified === null || verified.takenAt < attempt.startedAt)
  const headline = 'Back-ups fail'
  if (hasFailed) return [{ name: 'backup', headline, text: `${failureText(attempt)} ${BACKUP_ADVICE}`, patienceMs: 0 }]
  if (changes !== null && backupAge(changes, clock.now()) > CHANGES_AGE_MAX_MS) {
    const text = `The newest changes that were copied are of ${new Date(changes.takenAt).toISOString()}: what happened since would be lost with the database. ${BACKUP_ADVICE}`
    return [{ name: 'backup', headline, text, patienceMs: CHANGES_PATIENCE_MS }]
  }
  if (backupAge(verified, clock.now()) <= BACKUP_AGE_MAX_MS) return []
  const newest = verified === null ? 'There is none.' : `The newest is of ${new Date(verified.takenAt).toISOString()}.`
  const text = `No back-up of the last ${BACKUP_AGE_MAX_MS / HOUR_MS} hours was verified. ${newest} ${BACKUP_ADVICE}`
  // A new installation has as long to make its first one.
  return [{ name: 'backup', headline, text, patienceMs: verified === null ? BACKUP_AGE_MAX_MS : 0 }]
}

/** An update of the process that copies them takes less. */
const CHANGES_PATIENCE_MS = 5 * 60_000
const BACKUP_ADVICE = 'Run "paymesh doctor", and "paymesh backup run" as deploy/README.md describes.'

const failureText = ({ startedAt, failure }: { readonly startedAt: Ms; readonly failure: string | null }): string =>
  `The back-up of ${new Date(startedAt).toISOString()} failed: ${failure}.`

/** A store that does not answer is none of these: then nothing can be stored about it either. */
async function storeProblems({ redundancy }: FindProblemsDeps): Promise<readonly Problem[]> {
  const { faults } = redundancyHealth(await redundancy.read())
  if (faults.length === 0) return []
  const text = `${faults.join('; ')}.`
  return [{ name: 'store', headline: 'The database needs attention', text, patienceMs: 5 * 60_000 }]
}
