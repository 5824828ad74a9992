import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { matchRoutes, type RouteObject, useRoutes } from 'react-router'
import { PageSkeleton } from '../parts/page-skeleton.tsx'
import { ErrorBoundary } from './error-boundary.tsx'

/** A route whose element is at hand, or whose code is requested when the route is shown. */
export interface PageRoute {
  readonly path?: string
  readonly index?: true
  readonly element?: ReactNode
  readonly lazy?: () => Promise<ComponentType>
  readonly children?: readonly PageRoute[]
}

type Load = NonNullable<PageRoute['lazy']>

/** Components that have been loaded, by what loads them. */
const loaded = new Map<Load, ComponentType>()

/**
 * Routes in the form of the router, whose declarative half has a third of the size of its data routers, which the pages do not use. Pages
 * whose code `requestCode` has loaded are shown at once.
 */
export function routesOf(routes: readonly PageRoute[]): RouteObject[] {
  return routes.map(({ path, index, element, lazy: load, children }): RouteObject => {
    const shown = load === undefined ? element : elementOf(load)
    const own = { ...(path !== undefined && { path }), element: shown, handle: load }
    return index === true
      ? { ...own, index }
      : { ...own, ...(children !== undefined && { children: routesOf(children) }) }
  })
}

function elementOf(load: Load): ReactNode {
  const Page = loaded.get(load) ?? lazy(async () => ({ default: await load() }))
  return <Page />
}

/**
 * Requests the code of all routes that an address shows, together: rendering would request the page after its frame. Resolves when it has
 * arrived, or cannot be loaded. Call `routesOf` after it: a page whose code is missing when it is rendered is preceded by a skeleton, which
 * React shows for at least 300 ms.
 */
export async function requestCode(routes: readonly PageRoute[], pathname: string): Promise<void> {
  const matches = matchRoutes(routesOf(routes), pathname) ?? []
  const loads = matches.flatMap(({ route }) => (typeof route.handle === 'function' ? [route.handle as Load] : []))
  // One that fails fails again where it is rendered, and is shown there.
  await Promise.allSettled(loads.map(async (load) => loaded.set(load, await load())))
}

/** The route of the current address. Code that cannot be loaded is replaced with a sentence and a button. */
export function Routes({ routes }: { readonly routes: RouteObject[] }) {
  const shown = useRoutes(routes)
  return (
    <ErrorBoundary>
      <Suspense fallback={<PageSkeleton />}>{shown}</Suspense>
    </ErrorBoundary>
  )
}
