CREATE TABLE "webhook_jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"account_id" uuid NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"since" timestamp (3) with time zone,
	"until" timestamp (3) with time zone NOT NULL,
	"status" text DEFAULT 'running' NOT NULL,
	"reason" text,
	"counted" integer DEFAULT 0 NOT NULL,
	"total" integer,
	"processed" integer DEFAULT 0 NOT NULL,
	"delivered" integer,
	"undelivered" integer,
	"position" jsonb,
	"progressed_at" timestamp (6) with time zone,
	"finished_at" timestamp (3) with time zone,
	"tx_id" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "retention_marks" (
	"name" text PRIMARY KEY NOT NULL,
	"position" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "webhook_deliveries_account";--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "response_headers" jsonb;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "detail" text;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "tx_id" "xid8" DEFAULT pg_current_xact_id() NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "job_id" uuid;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "tx_id" "xid8" DEFAULT pg_current_xact_id() NOT NULL;--> statement-breakpoint
CREATE INDEX "webhook_jobs_account" ON "webhook_jobs" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "webhook_jobs_finished" ON "webhook_jobs" USING btree ("finished_at") WHERE finished_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_jobs_running" ON "webhook_jobs" USING btree ("endpoint_id") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "webhook_attempts_endpoint" ON "webhook_attempts" USING btree ("endpoint_id","tx_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","tx_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_given_up" ON "webhook_deliveries" USING btree ("endpoint_id","tx_id","id") WHERE status in ('exhausted', 'cancelled');--> statement-breakpoint
CREATE INDEX "webhook_deliveries_job" ON "webhook_deliveries" USING btree ("job_id") WHERE job_id is not null;