import type { LimitedEndpoint } from '#shared/db/endpoints/limited-endpoints.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { limitedText } from './limited-text.ts'

/** An endpoint that has been at its own limit, and whose oldest delivery has been due, for so long is behind. */
const BEHIND_MS = 10 * 60_000
const DAY_MS = 86_400_000

/** Dependencies of warning owners of endpoints that are behind. */
export type WarnEndpointsBehindDeps = Uses<
  'limitedEndpoints' | 'deliveries' | 'workspaces' | 'mails' | 'notifier' | 'clock'
>

/**
 * Queues one mail to the owner of each workspace whose endpoints are behind because they are at their own limit, however many they are. Its id is
 * derived from the workspace and the day on which the first of these episodes began, so an episode is mailed once however long it
 * lasts and whichever process calls this, and no workspace gets more than one a day. Returns the number of mails that it queued.
 */
export async function warnEndpointsBehind(deps: WarnEndpointsBehindDeps): Promise<number> {
  const now = deps.clock.now()
  const limited = (await deps.limitedEndpoints.list(now)).filter(({ since }) => since <= now - BEHIND_MS)
  const behind = new Map<string, (LimitedEndpoint & { readonly dueAt: Ms })[]>()
  for (const endpoint of limited) {
    const dueAt = await deps.deliveries.nextDue(endpoint.id)
    if (dueAt === null || dueAt > now - BEHIND_MS) continue
    behind.set(endpoint.workspaceId, [...(behind.get(endpoint.workspaceId) ?? []), { ...endpoint, dueAt }])
  }
  let queued = 0
  for (const workspace of await deps.workspaces.findMany([...behind.keys()])) {
    const endpoints = behind.get(workspace.id) ?? []
    const [worst] = [...endpoints].sort((left, right) => left.dueAt - right.dueAt)
    if (worst === undefined) continue
    const since = Math.min(...endpoints.map((endpoint) => endpoint.since))
    const id = `endpoints-behind:${workspace.id}:${Math.floor(since / DAY_MS)}`
    if (await deps.mails.hasAny([id])) continue
    const text = { count: String(endpoints.length), state: limitedText(worst, null, now - worst.dueAt) }
    const data = { ...text, workspace: workspace.name, endpointId: worst.id, url: worst.url, since: utcMinute(since) }
    const about = { id, workspaceId: workspace.id, to: workspace.ownerEmail, createdAt: now }
    await deps.mails.insertMany([{ ...about, template: 'endpoints_behind', data }])
    deps.notifier.notify(QUEUES.mail, id)
    queued += 1
  }
  return queued
}

const utcMinute = (at: Ms): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
