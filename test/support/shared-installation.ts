import { inject } from 'vitest'
import { type DevInfo, readDevInfo } from '#scripts/start/dev-info.ts'

/** URLs and keys of the installation that the files of a run share. Throws where the project has none. */
export function sharedInstallation(): DevInfo {
  const dev = readDevInfo(inject('stackDataDir'))
  if (dev === null) throw new Error('the shared installation is not running')
  return dev
}
