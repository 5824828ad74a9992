/** Heights and hashes of blocks already scanned, oldest first. */
export type HashWindow = readonly (readonly [number, string])[]

/** Newest blocks that are all kept: more than any network's confirmations, and more than one step adds. */
const DENSE = 128
/** Of older blocks, those whose height is a multiple of this are kept. */
const SPARSE = 64

/**
 * The window after further blocks: the newest 128 all stay, older ones every 64 blocks back to twice the finality
 * depth, so that a reorganisation of any tolerated depth finds its fork in few requests.
 */
export function extendWindow(window: HashWindow, blocks: HashWindow, finalityDepth: number): HashWindow {
  const all = [...window, ...blocks]
  const newest = all.at(-1)?.[0] ?? 0
  return all.filter(([height]) => {
    const depth = newest - height
    return depth < DENSE || (height % SPARSE === 0 && depth <= Math.max(2 * finalityDepth, 2 * DENSE))
  })
}

/** The window without the blocks above a fork. */
export function cutWindow(window: HashWindow, forkHeight: number): HashWindow {
  return window.filter(([height]) => height <= forkHeight)
}
