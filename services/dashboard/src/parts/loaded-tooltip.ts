import { Tooltip as LibraryTooltip } from '@mantine/core'

/** In a file of its own, so that no more of the library is requested with it. */
export const Tooltip = LibraryTooltip
