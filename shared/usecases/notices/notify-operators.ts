import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type Episode, nextEpisodes } from '#shared/domain/problems/episodes.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type FindProblemsDeps, findProblems } from './find-problems.ts'

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
