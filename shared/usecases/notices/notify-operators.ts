import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import { EVERY_NETWORK } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type Episode, nextEpisodes, type Problem } from '#shared/domain/problems/episodes.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { StoreRedundancyReader } from '#shared/ports/store-redundancy.ts'
import { BACKUP_AGE_MAX_MS, backupAge, CHANGES_AGE_MAX_MS, copiesTrouble } from '#shared/ports/verified-backups.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { redundancyHealth } from '#shared/usecases/maintenance/redundancy-health.ts'
import { networkName, stuckRowId } from '#shared/usecases/networks/report-stuck-networks.ts'
import { oldRates } from '#shared/usecases/rates/newest-snapshot.ts'
import { RATE_MAX_AGE_MS } from '#shared/usecases/rates/read-rate.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of mails to the operators of the installation. */
export type NotifyOperatorsDeps = FindProblemsDeps & Uses<'episodes' | 'users' | 'mails' | 'notifier' | 'logger'>

/**
 * Queues one mail to each operator of the installation about the problems that began, and one about those that ended, since the last call. What
 * happens at one look is in one mail. Mail ids are derived from that moment and the person, and the moment is stored before them: a repetition after
 * a crash queues the same ones. Nothing here waits for a mail server.
 */
export async function notifyOperators(deps: NotifyOperatorsDeps): Promise<void> {
  const now = deps.clock.now()
  const before = await deps.episodes.read()
  // Those of an earlier call that ended between storing the moment and queuing its mails.
  await announce(deps, before)
  const after = nextEpisodes(before, await findProblems(deps), now)
  if (before.length === 0 && after.length === 0) return
  await deps.episodes.replace(after)
  await announce(deps, after)
}

/** Queues the mails of every moment that the episodes name; those that are queued already stay as they are. */
async function announce(deps: NotifyOperatorsDeps, episodes: readonly Episode[]): Promise<void> {
  const begun = byMoment(episodes, ({ announcedAt }) => announcedAt)
  const ended = byMoment(episodes, ({ endedAt }) => endedAt)
  if (begun.size === 0 && ended.size === 0) return
  const operators = (await deps.users.list()).filter(({ isOperator }) => isOperator)
  if (operators.length === 0)
    deps.logger.warn({}, 'nobody is an operator of this installation, so nobody gets its mails')
  const mails = operators.flatMap(({ id, email }) => [
    ...[...begun].map(([at, group]) => mailOf('installation_problems', { id, email }, at, group)),
    ...[...ended].map(([at, group]) => mailOf('installation_recovered', { id, email }, at, group)),
  ])
  const queued = await Promise.all(mails.map((mail) => deps.mails.hasAny([mail.id])))
  const missing = mails.filter((_, place) => queued[place] === false)
  await deps.mails.insertMany(missing)
  for (const { id } of missing) deps.notifier.notify(QUEUES.mail, id)
}

function byMoment(
  episodes: readonly Episode[],
  momentOf: (episode: Episode) => Ms | null,
): ReadonlyMap<Ms, readonly Episode[]> {
  const groups = new Map<Ms, Episode[]>()
  for (const episode of episodes) {
    const at = momentOf(episode)
    if (at !== null) groups.set(at, [...(groups.get(at) ?? []), episode])
  }
  return groups
}

function mailOf(
  template: 'installation_problems' | 'installation_recovered',
  { id, email }: { readonly id: string; readonly email: string },
  at: Ms,
  episodes: readonly Episode[],
): MailRecord {
  const lines = episodes.map(({ headline, text, since }, place) => [
    `problem_${place + 1}`,
    template === 'installation_problems' ? `${headline}. ${text}` : `${headline}: since ${mailTime(since)}.`,
  ])
  const [first] = episodes
  const headline = episodes.length === 1 && first !== undefined ? first.headline : `${episodes.length} problems`
  const data = { headline, count: String(episodes.length), time: mailTime(at), ...Object.fromEntries(lines) }
  return { id: `${template}:${at}:${id}`, workspaceId: '', template, to: email, data, createdAt: at }
}

/** Dependencies of looking for problems. */
type FindProblemsDeps = Uses<'clock' | 'exceptions' | 'verifiedBackups' | 'rateSnapshots'> & {
  readonly redundancy: StoreRedundancyReader
}

const HOUR_MS = 3_600_000

/**
 * What is wrong with the installation that somebody must repair: networks that do not advance, as their exceptions say, the last back-up, its copies
 * elsewhere, the store and prices. At most one for each network and each of the others.
 */
async function findProblems(deps: FindProblemsDeps): Promise<readonly Problem[]> {
  const found = await Promise.all(
    [stuckNetworks, backupProblems, copyProblems, storeProblems, rateProblems].map((find) => find(deps)),
  )
  return found.flat()
}

async function stuckNetworks({ exceptions }: FindProblemsDeps): Promise<readonly Problem[]> {
  const rows = await Promise.all(EVERY_NETWORK.map((of) => exceptions.findById(stuckRowId(of))))
  return rows.flatMap((row, place) => {
    const of = EVERY_NETWORK[place]
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
    return [{ name: 'backup', headline, text, patienceMs: PATIENCE_MS }]
  }
  if (backupAge(verified, clock.now()) <= BACKUP_AGE_MAX_MS) return []
  const newest = verified === null ? 'There is none.' : `The newest is of ${new Date(verified.takenAt).toISOString()}.`
  const text = `No back-up of the last ${BACKUP_AGE_MAX_MS / HOUR_MS} hours was verified. ${newest} ${BACKUP_ADVICE}`
  // A new installation has as long to make its first one.
  return [{ name: 'backup', headline, text, patienceMs: verified === null ? BACKUP_AGE_MAX_MS : 0 }]
}

/** Apart from the others, so that its mail does not stand for a back-up that fails later. */
async function copyProblems({ clock, verifiedBackups }: FindProblemsDeps): Promise<readonly Problem[]> {
  const copies = copiesTrouble(await verifiedBackups.latestChanges(), clock.now())
  if (copies === '') return []
  const text = `What happened since would be lost with the place where they are made: ${copies}.`
  return [{ name: 'backup_copies', headline: 'Back-ups are not copied elsewhere', text, patienceMs: PATIENCE_MS }]
}

const SILENT_STORE = 'MongoDB does not say its own state within two seconds: it may be overloaded or lost'
/** A restart, an update and a short loss of a source are over by then. */
const PATIENCE_MS = 5 * 60_000
const BACKUP_ADVICE = 'Run "paymesh doctor", and "paymesh backup run" as deploy/README.md describes.'

const failureText = ({ startedAt, failure }: { readonly startedAt: Ms; readonly failure: string | null }): string =>
  `The back-up of ${new Date(startedAt).toISOString()} failed: ${failure}.`

/** A store that does not say its state hides no other problem, and has none less: a mail that it recovered would be wrong. */
async function storeProblems({ redundancy }: FindProblemsDeps): Promise<readonly Problem[]> {
  const state = await redundancy.read().catch(() => null)
  const faults = state === null ? [SILENT_STORE] : redundancyHealth(state).faults
  if (faults.length === 0) return []
  const text = `${faults.join('; ')}.`
  return [{ name: 'store', headline: 'The database needs attention', text, patienceMs: PATIENCE_MS }]
}

async function rateProblems({ clock, rateSnapshots }: FindProblemsDeps): Promise<readonly Problem[]> {
  const fault = await oldRates(rateSnapshots, clock.now(), RATE_MAX_AGE_MS)
  const text = `Invoices with a coin cannot be created: ${fault}.`
  return fault === null ? [] : [{ name: 'rates', headline: 'There are no prices', text, patienceMs: PATIENCE_MS }]
}
