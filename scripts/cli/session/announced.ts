import type { QueueNotifier } from '#shared/ports/runtime.ts'
import { type AnnouncedChanges, announcedChanges } from '#shared/usecases/workspaces/announced-changes.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import type { Installation } from './installation.ts'

/** The mailer finds mails without a wake-up, so that commands need no Redis for them. */
const NO_WAKE_UP: QueueNotifier = { notify: () => undefined }

/** What mails to owners name as the place that a change came from. */
export const FROM_COMMAND_LINE = 'the command line of the server'

/** Repositories whose changes are mailed to every owner, like those made in the dashboard. */
export function announced(installation: Installation): AnnouncedChanges {
  const ownersOf = (workspaceId: string) => ownersOfWorkspace(installation, workspaceId)
  return announcedChanges({ ...installation, ownersOf, notifier: NO_WAKE_UP }, FROM_COMMAND_LINE)
}
