import { Tooltip as LibraryTooltip } from '@mantine/core'

/** In its own file, so that no more of the library is requested with it. */
export const Tooltip = LibraryTooltip
