import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { sql } from 'drizzle-orm';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Public } from '../kernel/roles.guard.js';

const databasePatienceMs = 2_000;

@ApiTags('service')
@Controller()
export class HealthController {
  constructor(private readonly infrastructure: Infrastructure) {}

  /** The process is up; says nothing about what it depends on. */
  @Get('healthz')
  @Public()
  @ApiOkResponse({ description: 'The process is up.' })
  health(): { status: 'up' } {
    return { status: 'up' };
  }

  /** Postgres and Temporal answer; else 503. */
  @Get('readyz')
  @Public()
  @ApiOkResponse({ description: 'Postgres and Temporal answer.' })
  async ready(): Promise<{ status: 'ready'; database: 'up'; temporal: 'up' }> {
    const [database, temporal] = await Promise.all([this.databaseAnswers(), this.infrastructure.temporal.isReachable()]);
    if (database && temporal) return { status: 'ready', database: 'up', temporal: 'up' };
    throw new DomainError('service_unavailable', undefined, { extra: { database: database ? 'up' : 'down', temporal: temporal ? 'up' : 'down' } });
  }

  private async databaseAnswers(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, databasePatienceMs, false);
    });
    const answer = this.infrastructure.db.execute(sql`select 1`).then(() => true, () => false);
    return Promise.race([answer, patience]).finally(() => clearTimeout(timer));
  }
}
