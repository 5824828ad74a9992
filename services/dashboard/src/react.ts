import { options } from 'preact'
import { createElement, Fragment, type ReactNode } from 'preact/compat'

/**
 * What every page and library imports as `react` (`vite.config.ts`): Preact, which does the same in a fifth of the bytes
 * (https://preactjs.com/guide/v10/switching-to-preact), and what libraries name that it lacks. No page renders either of these.
 */
// @ts-expect-error: the types are a namespace, the module that the build reads exports names (TS2498)
// biome-ignore lint/performance/noBarrelFile: the build takes this file for `react`, all of it
export * from 'preact/compat'
export { default } from 'preact/compat'

/**
 * Effects run as soon as their change is in the document, as React runs those of a click: a dialog notes where the focus was before the
 * focus moves into it, and keys typed next find the listeners of what was opened.
 */
options.requestAnimationFrame = queueMicrotask

/** Mantine hides content in it that stays mounted, which no page asks for; hidden content is unmounted. */
export function Activity({ mode, children }: { readonly mode?: 'visible' | 'hidden'; readonly children?: ReactNode }) {
  return mode === 'hidden' ? null : createElement(Fragment, null, children)
}

/** React Router's provider of data routers uses it; the pages have none. */
export function useOptimistic<T>(value: T): readonly [T, (value: T) => void] {
  return [value, () => undefined]
}
