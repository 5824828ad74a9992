import type { LogoReader } from '#shared/ports/logos.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { type ChangeSettingsDeps, changeSettings, earlierChange } from './change-settings.ts'

/** Dependencies of changing a logo. */
export interface ChangeLogoDeps extends ChangeSettingsDeps {
  readonly logoReader: LogoReader
}

/**
 * Replaces the logo of a workspace by a file of a member, or removes it (null). What is stored is our own encoding of its pixels, in one
 * transaction with the workspace and the audit row. The file is decoded only while `version` is the latest. Throws `VALIDATION_ERROR` with path `image`, and `INVALID_STATE` as `changeSettings` does.
 */
export async function changeLogo(
  deps: ChangeLogoDeps,
  input: {
    readonly workspaceId: string
    readonly version: number
    readonly file: Uint8Array | null
    readonly action: OperatorAction
  },
): Promise<Workspace> {
  const { file, ...about } = input
  if (file === null) return await changeSettings(deps, { ...about, change: { policy: { logo: null } }, logo: null })
  const done = await earlierChange(deps, about)
  if (done !== null) {
    await deps.epochs.setWorkspaceEpoch(done.id, done.epoch)
    return done
  }
  const logo = await deps.logoReader.read(file)
  const { bytes: _bytes, ...facts } = logo
  return await changeSettings(deps, { ...about, change: { policy: { logo: facts } }, logo })
}
