import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { matchRoutes, type RouteObject, useRoutes } from 'react-router'
import { PageSkeleton } from '../parts/page-skeleton.tsx'
import { ErrorBoundary } from './error-boundary.tsx'

/** A route whose element is at hand, or whose code is requested when the route is shown. */
export interface PageRoute {
  readonly path?: string
  readonly index?: true
  readonly element?: ReactNode
  readonly lazy?: () => Promise<{ readonly Component: ComponentType }>
  readonly children?: readonly PageRoute[]
}

/** In the form of the router, whose declarative half has a third of the size of its data routers, which the pages do not use. */
export function routesOf(routes: readonly PageRoute[]): RouteObject[] {
  return routes.map(({ path, index, element, lazy: load, children }): RouteObject => {
    const shown = load === undefined ? element : lazyElement(load)
    const own = { ...(path !== undefined && { path }), element: shown, handle: load }
    return index === true
      ? { ...own, index }
      : { ...own, ...(children !== undefined && { children: routesOf(children) }) }
  })
}

function lazyElement(load: NonNullable<PageRoute['lazy']>): ReactNode {
  const Page = lazy(async () => ({ default: (await load()).Component }))
  return <Page />
}

/** Requests the code of all routes that an address shows, together: rendering would request the page after its frame. */
export function requestCode(routes: RouteObject[], pathname: string): void {
  for (const { route } of matchRoutes(routes, pathname) ?? []) {
    // One that fails fails again where it is rendered, and is shown there.
    if (typeof route.handle === 'function') Promise.resolve(route.handle()).catch(() => {})
  }
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
