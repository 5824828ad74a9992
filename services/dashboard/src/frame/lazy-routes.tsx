import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react'
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

/** Components by what loads them, once they have been loaded. */
const loaded = new Map<unknown, ComponentType>()

function lazyElement(load: NonNullable<PageRoute['lazy']>): ReactNode {
  return <LoadedPage load={load} Lazy={lazy(async () => ({ default: (await load()).Component }))} />
}

/** Shows the component at once if its code is at hand; otherwise React shows the skeleton first, and that for at least 300 ms. */
function LoadedPage(props: { readonly load: NonNullable<PageRoute['lazy']>; readonly Lazy: ComponentType }) {
  const [Page] = useState<ComponentType>(() => loaded.get(props.load) ?? props.Lazy)
  return <Page />
}

/**
 * Requests the code of all routes that an address shows, together: rendering would request the page after its frame. Resolves when it has
 * arrived, or cannot be loaded.
 */
export async function requestCode(routes: RouteObject[], pathname: string): Promise<void> {
  const loads = (matchRoutes(routes, pathname) ?? []).flatMap(({ route }) =>
    typeof route.handle === 'function' ? [route.handle as NonNullable<PageRoute['lazy']>] : [],
  )
  // One that fails fails again where it is rendered, and is shown there.
  await Promise.allSettled(loads.map(async (load) => loaded.set(load, (await load()).Component)))
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
