import type { Ms } from '../invoice/model.ts'

/** Something that is wrong with the installation now. */
export interface Problem {
  /** The same for as long as it is the same problem. */
  readonly name: string
  /** For a subject line. */
  readonly headline: string
  /** What happened and what to do, for a person. */
  readonly text: string
  /** How long it must last before anybody is told of it, milliseconds. */
  readonly patienceMs: Ms
}

/** A problem from its first sight until everybody was told that it is over. */
export interface Episode extends Problem {
  readonly since: Ms
  /** When it was announced; null before. */
  readonly announcedAt: Ms | null
  /** Since when it is not seen any more; null while it is. */
  readonly wellSince: Ms | null
  /** When it ended; null before. */
  readonly endedAt: Ms | null
}

/** A problem that comes and goes is one episode until it stayed away for so long. */
export const QUIET_MS = 15 * 60_000

/**
 * The episodes after a look at `now`. An episode is announced once, when it has lasted as long as its patience, and ends when it was away for
 * 15 minutes; one that went before it was announced leaves nothing. Ended ones stay in the list for one look, so that the caller announces their end. Pure.
 */
export function nextEpisodes(episodes: readonly Episode[], problems: readonly Problem[], now: Ms): readonly Episode[] {
  const seen = new Map(problems.map((problem) => [problem.name, problem]))
  const known = episodes.filter(({ endedAt }) => endedAt === null)
  const news = problems.filter(({ name }) => !known.some((episode) => episode.name === name))
  const begun = news.map((problem) => ({
    ...problem,
    ...{ since: now, announcedAt: null, wellSince: null, endedAt: null },
  }))
  return [...known, ...begun].flatMap((episode): readonly Episode[] => {
    const problem = seen.get(episode.name)
    if (problem !== undefined) {
      const isDue = episode.announcedAt === null && now - episode.since >= problem.patienceMs
      return [{ ...episode, ...problem, wellSince: null, announcedAt: isDue ? now : episode.announcedAt }]
    }
    if (episode.announcedAt === null) return []
    const wellSince = episode.wellSince ?? now
    return [{ ...episode, wellSince, endedAt: now - wellSince >= QUIET_MS ? now : null }]
  })
}
