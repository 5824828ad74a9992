import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Installation } from '../session/installation.ts'

/** The workspace and mode in which a procedure works. */
export interface Scope {
  readonly workspaceId: string
  readonly mode: Mode
}

type SubjectPlace = { readonly workspaceId: string | null; readonly mode: Mode | 'both' | null } | null

/** Things whose id alone names a workspace and a mode. */
const FINDERS = {
  invoice: async ({ invoices }: Installation, id: string): Promise<SubjectPlace> =>
    (await invoices.findById(id))?.terms ?? null,
  payment: ({ payments }: Installation, id: string): Promise<SubjectPlace> => payments.findById(id),
  exception: ({ exceptions }: Installation, id: string): Promise<SubjectPlace> => exceptions.findById(id),
  endpoint: ({ endpoints }: Installation, id: string): Promise<SubjectPlace> => endpoints.findById(id),
  delivery: ({ deliveries }: Installation, id: string): Promise<SubjectPlace> => deliveries.findById(id),
  key: ({ workspaceAdmin }: Installation, id: string): Promise<SubjectPlace> => workspaceAdmin.findKey(id),
  wallet: ({ wallets }: Installation, id: string): Promise<SubjectPlace> => wallets.findWallet(id),
} as const

export type SubjectKind = keyof typeof FINDERS

/**
 * Where a thing is; null for one that belongs to no workspace. `named` is the mode to use for a thing of both modes, otherwise test mode.
 * Throws `NOT_FOUND`.
 */
export async function scopeOf(
  installation: Installation,
  kind: SubjectKind,
  id: string,
  named: Mode | undefined,
): Promise<Scope | null> {
  const found = await FINDERS[kind](installation, id)
  if (found === null)
    throw new PaymeshError('NOT_FOUND', {
      message: `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)} ${id} not found.`,
    })
  const { workspaceId, mode } = found
  if (workspaceId === null) return null
  if (mode === 'both') return { workspaceId, mode: named ?? 'test' }
  // An exception of a workspace without a mode belongs to both.
  return { workspaceId, mode: named ?? mode ?? 'live' }
}

/** Every workspace, or the named one, in both modes or the named one. Throws `NOT_FOUND` for an unknown workspace. */
export async function scopesOf(
  { workspaces }: Installation,
  { workspace, mode }: { readonly workspace?: string; readonly mode?: Mode },
): Promise<readonly Scope[]> {
  const modes: readonly Mode[] = mode === undefined ? ['live', 'test'] : [mode]
  const ids = workspace === undefined ? (await workspaces.list()).map(({ id }) => id) : [workspace]
  return ids.flatMap((workspaceId) => modes.map((one) => ({ workspaceId, mode: one })))
}
