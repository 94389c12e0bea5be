import { Module } from '@nestjs/common';
import { TestClocksController } from './test-clocks.controller.js';
import { TestClocksService } from './test-clocks.service.js';

@Module({ controllers: [TestClocksController], providers: [TestClocksService] })
export class TestClocksModule {}
