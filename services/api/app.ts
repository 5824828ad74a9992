import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ApiDeps } from './api-deps.ts'
import { MethodNotAllowed } from './middleware/error-answer.ts'
import { type Executor, executeFailure, executePage, executeRoute } from './middleware/execute.ts'
import { referencePages } from './reference/pages.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

/** Path prefix of the interface (specification §1). */
const BASE_PATH = '/api/v1'

/**
 * The REST edge as an Express application. It does not listen and connects to nothing. Every request that it takes
 * ends in the envelope with rate headers, whatever its path, method or body.
 */
export function createApp(deps: ApiDeps, routes: readonly Route[] = ROUTES): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  for (const path of new Set(routes.map(expressPath))) {
    const here = routes.filter((route) => expressPath(route) === path)
    for (const route of here) register(app, route, executeRoute(deps, route))
    const allow = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
    app.all(BASE_PATH + path, adapt(executeFailure(deps, new MethodNotAllowed(allow))))
  }
  for (const page of referencePages(deps.publicUrl)) {
    app.get(BASE_PATH + page.path, adapt(executePage(deps, page)))
    app.all(BASE_PATH + page.path, adapt(executeFailure(deps, new MethodNotAllowed('GET, HEAD'))))
  }
  app.use(adapt(executeFailure(deps, new PaymeshError('NOT_FOUND', { message: 'There is no such path.' }))))
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (!(error instanceof URIError)) return executeFailure(deps, error)(request, response, {})
    request.url = literalPath(request.url)
    return app(request, response)
  })
  return app
}

/**
 * The router throws at a broken percent escape before anybody asked for the key. With every `%` taken literally the same
 * request finds its operation, passes the checks in their order and fails as the malformed id that it is.
 */
function literalPath(target: string): string {
  const [path = '', ...query] = target.split('?')
  return [path.replaceAll('%', '%25'), ...query].join('?')
}

/** The path of an operation as Express writes it. */
const expressPath = ({ path }: Route): string => path.replace('{id}', ':id')

function register(app: Express, route: Route, execute: Executor): void {
  const { method } = route
  const path = expressPath(route)
  const handler = adapt(execute)
  if (method === 'GET') app.get(BASE_PATH + path, handler)
  else if (method === 'POST') app.post(BASE_PATH + path, handler)
  else app.delete(BASE_PATH + path, handler)
}

function adapt(execute: Executor) {
  return (request: Request, response: Response): Promise<void> => execute(request, response, request.params)
}
