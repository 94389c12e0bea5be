import apiReference from '@scalar/fastify-api-reference';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';

const referencePolicy = [
  "default-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:",
  "font-src 'self' data:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
].join('; ');

/** Serves `/openapi.json` and, under `/docs`, the reference rendered from it; everything it loads comes from this process. */
export async function serveDocs(server: FastifyInstance, document: () => OpenAPIObject): Promise<void> {
  server.get('/openapi.json', { config: { public: true } }, (_request, reply) => reply.send(document()));
  await server.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true };
    });
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.header('content-security-policy', referencePolicy);
    });
    await scope.register(apiReference, {
      routePrefix: '/docs',
      configuration: {
        url: '/openapi.json', theme: 'default', withDefaultFonts: false, telemetry: false, hideClientButton: true, showDeveloperTools: 'never',
        authentication: { preferredSecurityScheme: 'token' },
      },
    });
  });
}
