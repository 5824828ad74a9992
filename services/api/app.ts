import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { compressAnswers } from '#shared/runtime/http/compress-answers.ts'
import type { ApiDeps } from './api-deps.ts'
import { MethodNotAllowed } from './middleware/error-answer.ts'
import { type Executor, executeFailure, executePage, executeRoute } from './middleware/execute.ts'
import { referenceAssets, referencePages } from './reference/pages.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

/** Path prefix of the API (specification §1). */
const BASE_PATH = '/api/v1'
/** Lists and the OpenAPI document; compressing a single resource takes longer than sending it. */
const COMPRESS_FROM_BYTES = 8_192

/**
 * The REST API as an Express application. It does not start listening and connects to nothing. Every request
 * ends in the envelope with rate headers, whatever its path, method or body; only the built files of the reference page do not.
 */
export function createApp(deps: ApiDeps, routes: readonly Route[] = ROUTES): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  app.use(compressAnswers(COMPRESS_FROM_BYTES))
  for (const path of new Set(routes.map(expressPath))) {
    const here = routes.filter((route) => expressPath(route) === path)
    for (const route of here) register(app, route, executeRoute(deps, route))
    const allow = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
    app.all(BASE_PATH + path, adapt(executeFailure(deps, new MethodNotAllowed(allow))))
  }
  for (const page of referencePages(deps)) {
    app.get(BASE_PATH + page.path, adapt(executePage(deps, page)))
    app.all(BASE_PATH + page.path, adapt(executeFailure(deps, new MethodNotAllowed('GET, HEAD'))))
  }
  const assets = referenceAssets(deps)
  if (assets !== null) app.use(`${BASE_PATH}/docs/assets`, assets)
  app.use(adapt(executeFailure(deps, new PaymeshError('NOT_FOUND', { message: 'Path not found.' }))))
  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (!(error instanceof URIError)) return executeFailure(deps, error)(request, response, {})
    request.url = literalPath(request.url)
    return app(request, response)
  })
  return app
}

/**
 * The router throws at a broken percent escape before authentication. With every `%` taken literally the same
 * request matches its operation, passes the checks in order and fails with a malformed id.
 */
function literalPath(target: string): string {
  const [path = '', ...query] = target.split('?')
  return [path.replaceAll('%', '%25'), ...query].join('?')
}

/** The path of an operation in Express syntax. */
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
