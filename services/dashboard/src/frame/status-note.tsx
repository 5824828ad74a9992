import type { WorkspaceStatus } from '#shared/domain/enumerations.ts'

const LABELS: Readonly<Record<WorkspaceStatus, string | null>> = {
  active: null,
  restricted:
    'This workspace is restricted: you can’t create or change invoices, payment links and products. Everything else works.',
  suspended:
    'This workspace is suspended. You can read, export, and decide about payments that are under way. You can’t start anything new.',
}

/** Says above every page of a workspace what does not work there, and whom to ask. */
export function StatusNote({ status }: { readonly status: WorkspaceStatus }) {
  const label = LABELS[status]
  if (label === null) return null
  return (
    <div className="pm-offline" role="status">
      {label} Contact the operator of this installation.
    </div>
  )
}
