import { EXCEPTION_TITLES } from '#shared/contracts/exception-labels.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { OpenSummary } from '#shared/ports/exception-decisions.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Dependencies of sending daily mails. */
export type DigestDeps = Uses<'clock' | 'decisions' | 'workspaces' | 'mails' | 'notifier'>

/**
 * Queues one mail a day to the owner of each workspace that has open exceptions, at the hour of its policy (UTC): it counts the exceptions
 * open at that hour, so a late run gives the same text. However many are open elsewhere, every workspace gets its mail, and every kind and
 * mode its line. The mail's id is derived from workspace and day, so calling this often, or in two processes at once, sends nothing
 * twice. Returns the number of mails that it queued.
 */
export async function sendDigests(deps: DigestDeps): Promise<number> {
  const now = deps.clock.now()
  const kindsOf = await deps.decisions.workspacesWithOpen()
  const workspaces = await deps.workspaces.findMany([...kindsOf.keys()])
  let queued = 0
  for (const workspace of workspaces) {
    const at = digestTime(workspace, now)
    if (at === null || (await deps.mails.hasAny([digestId(workspace, at)]))) continue
    const rows = await deps.decisions.summariseOpen(workspace.id, kindsOf.get(workspace.id) ?? [], at)
    if (rows.length === 0) continue
    const mail = digestMail(workspace, rows, at)
    await deps.mails.insertMany([mail])
    deps.notifier.notify(QUEUES.mail, mail.id)
    queued += 1
  }
  return queued
}

/** Today's digest hour if it has passed; null before it, and when no mail is wanted. */
function digestTime({ policy }: Workspace, now: Ms): Ms | null {
  const hour = policy.digestHour
  if (hour === null) return null
  const at = Math.floor(now / DAY_MS) * DAY_MS + hour * HOUR_MS
  return at <= now ? at : null
}

const digestId = ({ id }: Workspace, at: Ms): string =>
  `exceptions-digest:${id}:${new Date(at).toISOString().slice(0, 10)}`

function digestMail(workspace: Workspace, rows: readonly OpenSummary[], at: Ms): MailRecord {
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  const kinds = [...rows].sort((a, b) => a.oldestAt - b.oldestAt).map(kindText)
  return {
    id: digestId(workspace, at),
    workspaceId: workspace.id,
    template: 'exceptions_digest',
    to: workspace.ownerEmail,
    data: { workspace: workspace.name, count: String(count), kinds: kinds.join('; ') },
    createdAt: at,
  }
}

function kindText({ kind, mode, count, oldestAt }: OpenSummary): string {
  const since = `${new Date(oldestAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `${EXCEPTION_TITLES[kind]}${mode === 'test' ? ' (test mode)' : ''}: ${count}, since ${since}`
}
